# The two commands that matter:   make demo   runs the main job,   make test   runs the tests.
#
# Both do all set-up themselves (see tools/setup/setup.sh); when nothing is missing that takes well under a second.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help packages page page-dev setup test-setup all-setup e2e-setup trainer-program test-programs build install \
	kernel-resources gpu-pack gpu-mutants images cuda-libraries demo test formats e2e screenshots asan tsan fuzz survive survive-ring bench \
	bench-tools clean

# Nothing is taken from where it happens to lie on the caller's PATH.
export PATH := /usr/bin:/bin:/usr/sbin:/sbin

SETUP := tools/setup/setup.sh
CACHE = $(shell $(SETUP) path cache)
BAZEL = /usr/bin/bazel
# What does not change from one call to the next, so that Bazel analyses the tree once. A build of one clone serves the
# next: objects are kept by the digest of what they were made from.
BAZEL_FLAGS = --disk_cache=$(CACHE)/bazel --ui_event_filters=-info,-debug \
	--test_env=TAAS_KUBERNETES_BIN=$(shell $(SETUP) path kubernetes) \
	--test_env=TAAS_TENSORFLOW_BIN=$(shell $(SETUP) path tensorflow) \
	--test_env=TAAS_TORCH_BIN=$(shell $(SETUP) path torch) \
	--test_env=TAAS_CLIENTS_BIN=$(shell $(SETUP) path clients) \
	--test_env=TAAS_NODE_BIN=$(shell $(SETUP) path node) \
	$(if $(TAAS_DATA),--test_env=TAAS_DATA=$(TAAS_DATA)) \
	$(if $(FIXTURES),--test_env=TAAS_FIXTURES=$(FIXTURES))
BAZEL_BUILD = tools/ci/bazel.py $(BAZEL) build $(BAZEL_FLAGS)
TEST_FLAGS ?=
# Many tests wait for something: one more than there are cores keeps these busy.
SIDE_BY_SIDE = --jobs=16 --local_cpu_resources=HOST_CPUS*1.5
# Each of these has an output tree of its own: in one, a configuration throws away what another has analysed.
THIS_CLONE = $(shell echo $(CURDIR) | sha256sum | cut -c1-12)
APART = $(BAZEL) --output_base=$(CACHE)/$@/$(THIS_CLONE) --max_idle_secs=60
# A node needs namespaces and cgroups. The caches stay those of the caller, and so does what is asked for.
KEPT = TAAS_CACHE=$(CACHE) $(foreach name,E2E_LOGS TAAS_SEED TAAS_PREVIOUS_IMAGE,$(if $($(name)),$(name)=$($(name))))
AS_ROOT = $(if $(filter-out 0,$(shell id -u)),sudo env $(KEPT))
# What tests need beside the packages: programs of other projects, built or fetched once.
TEST_SETUP = $(SETUP) kubernetes && $(SETUP) python tensorflow && $(SETUP) python torch && \
	$(SETUP) python clients

PROGRAMS = //cli:taas //operator/cmd:taas-operator //trainer/cmd:taas-trainer
# How long what comes takes, where it is long.
FIRST = [ -d $(CACHE)/bazel ] || echo "first build on this machine: $(1) on two cores, later seconds" >&2

help:
	@sed -n 's/^##  *//p' Makefile

## make demo    train MNIST on this machine: an API server, the operator, 1 chief, 2 ps and 2 workers
demo: build
	@tools/demo/demo.sh

## make test    all tests; ends with the line "N passed, N failed"; T=//operator/plan:plan_test: these targets only
T ?=
# Tests of files that others wrote, where there are such files.
FIXTURE_TESTS = //trainer/checkpoint:tensorflow_fixtures_test //trainer/data:record_fixtures_test \
	//trainer/summary:event_fixtures_test
ALL_TESTS = $(or $(T),//... $(if $(FIXTURES),$(FIXTURE_TESTS)))
COUNTED = $(if $(T),tests(set($(T))),tests(//...) except attr(tags, manual, //...) \
	$(if $(FIXTURES),union set($(FIXTURE_TESTS))))
test:
	@$(call FIRST,30 to 60 minutes)
	@$(MAKE) --no-print-directory --jobs=2 test-setup test-programs
	@tools/ci/bazel.py $(BAZEL) test $(BAZEL_FLAGS) $(SIDE_BY_SIDE) --keep_going $(TEST_FLAGS) $(ALL_TESTS) ; \
	status=$$?; \
	$(BAZEL) query --noshow_progress '$(COUNTED)' 2>/dev/null | \
	tools/ci/count_tests.py $$status $$($(BAZEL) info $(BAZEL_FLAGS) bazel-testlogs 2>/dev/null)

# Fetched and built while our own programs are compiled: it waits for registries half of its time.
test-setup: setup
	@$(TEST_SETUP)

test-programs: page $(if $(T),,trainer-program)
	@$(BAZEL_BUILD) --keep_going $(ALL_TESTS) || true

## make formats FIXTURES=DIR    checkpoints, event files and records of a folder that real TensorFlow wrote, read
formats:
	@$(MAKE) --no-print-directory test T="$(FIXTURE_TESTS) //dashboard/events:tensorboard_test"

## make e2e     tests on a whole Kubernetes of our own, with a real node (root); KUBECONFIG=FILE: on that cluster
E2E_NODE ?= real
# A variable of the environment is not meant: `make e2e` must not install into what kubectl uses.
E2E_FLAGS = $(if $(filter command line,$(origin KUBECONFIG)),--kubeconfig $(KUBECONFIG)) --node $(E2E_NODE)
e2e:
	@$(MAKE) --no-print-directory --jobs=2 images e2e-setup
	@$(AS_ROOT) e2e/cluster/run.py test $(E2E_FLAGS) $(TESTS)

# Beside the compilation of our own programs: what waits for registries leaves the cores to it.
e2e-setup: setup
	@$(SETUP) packages e2e && $(SETUP) kubernetes && $(SETUP) cluster && $(SETUP) peer && \
	$(SETUP) python tensorflow && $(SETUP) python clients && $(SETUP) browser

# Of all stages of .ci/run.
all-setup: setup
	@$(TEST_SETUP)
	@$(MAKE) --no-print-directory e2e-setup

## make screenshots    dist/screenshots: every page of the dashboard, as a browser shows it
screenshots: build
	@$(SETUP) packages e2e && $(SETUP) kubernetes && $(SETUP) browser
	@e2e/browser/screenshots.py

## make build   bin/taas (also as kubectl-taas), bin/taas-operator, bin/taas-trainer; T=//trainer/...: these targets
##              only, which stay in Bazel's folders
ifdef T
build: setup
	@$(BAZEL_BUILD) $(T)
else
build:
	@$(call FIRST,10 to 20 minutes)
	@$(MAKE) --no-print-directory --jobs=2 page trainer-program
	@$(BAZEL_BUILD) $(PROGRAMS)
	@mkdir -p bin
	@cd "$$($(BAZEL) info $(BAZEL_FLAGS) bazel-bin 2>/dev/null)" && install -m 755 \
	cli/taas operator/cmd/taas-operator trainer/cmd/taas-trainer $(CURDIR)/bin/
	@ln -sf taas bin/kubectl-taas && ln -sf taas bin/kubectl_complete-taas
endif

trainer-program: packages
	@$(BAZEL_BUILD) //trainer/cmd:taas-trainer

## make install PREFIX=/usr/local    what `make build` made, kubectl's plugin and completions of shells
PREFIX ?= /usr/local
# Builds nothing: with sudo that would be another user's build.
install:
	@DESTDIR='$(DESTDIR)' tools/install/install.sh bin '$(PREFIX)'

## make kernel-resources    trainer/kernels/cuda/resources.txt: what each CUDA kernel takes of a GPU, as compiled now
kernel-resources: packages
	@$(BAZEL_BUILD) //trainer/kernels/cuda:resources
	@install -m 644 \
	"$$($(BAZEL) info $(BAZEL_FLAGS) bazel-bin 2>/dev/null)/trainer/kernels/cuda/resources.built.txt" \
	trainer/kernels/cuda/resources.txt

## make gpu-pack    dist/gpu: pack.tar.xz and `check`, which runs what is in it on a machine with an NVIDIA GPU
GPU_PROGRAMS = //trainer/cmd:taas-trainer //trainer/kernels/cuda/testing:parity //bench/gpu:gpu_bench
gpu-pack: packages
	@$(BAZEL_BUILD) $(GPU_PROGRAMS)
	@bench/gpu/pack.py --out dist/gpu --bazel-bin "$$($(BAZEL) info $(BAZEL_FLAGS) bazel-bin 2>/dev/null)"

## make gpu-mutants    a hundred small mistakes in the CUDA kernels' sources: how many of them a test finds; SEED=N: others;
##              ONLY="sums.cu …": those of these files
gpu-mutants: packages
	@$(BAZEL_BUILD) //trainer/kernels/cuda/mutants:twins
	@trainer/kernels/cuda/mutants/gpu_mutants.py --bazel "$(BAZEL)" --flags "$(BAZEL_FLAGS)" $(if $(SEED),--seed $(SEED)) \
	$(if $(ONLY),--only $(ONLY))

## make images  dist/taas-operator.tar and dist/taas-trainer.tar; REGISTRY=R goes before their names; with CUDA=1 also
##              dist/taas-trainer-cuda.tar, for which NVIDIA's libraries are fetched
REGISTRY ?=
CUDA ?=
WITH_CUDA = $(filter 1,$(CUDA))
images: build $(if $(WITH_CUDA),cuda-libraries)
	@images/build.py images/operator.toml images/trainer.toml $(if $(WITH_CUDA),images/trainer-cuda.toml) \
	--from . --out dist --tag "$$(cat VERSION)" --registry "$(REGISTRY)"

# Where the recipe finds them.
cuda-libraries: packages
	@$(SETUP) python cuda-libraries && mkdir -p bin && ln -sfn "$$($(SETUP) path cuda-libraries)" bin/cuda-libraries

## make asan    the tests with AddressSanitizer and UndefinedBehaviorSanitizer
## make tsan    those of what has threads of its own, with ThreadSanitizer
# Kernels on the processor change their stacks by themselves, which that sanitizer does not see: it runs out of stack, or
# takes what one thread of the kernel did for another's.
TSAN_TESTS = $(foreach folder,operator localkube cli dashboard \
	$(addprefix trainer/,comm cluster ps chief replica task cut retry strategy status graph),//$(folder)/...) \
	$(addprefix -//trainer/,strategy:gpu_models_test strategy:gpu_towers_test task:tower_mean_test task:device_memory_test)
asan: SANITIZED = //...
tsan: SANITIZED = $(TSAN_TESTS)
asan tsan: setup
	@$(TEST_SETUP)
	@$(APART) test $(BAZEL_FLAGS) --noshow_progress --config=$@ --keep_going $(TEST_FLAGS) -- $(or $(T),$(SANITIZED))

## make fuzz MINUTES=n    what reads foreign bytes, with libFuzzer, each target so long; T=//trainer/data/fuzz:idx_fuzz: these only
MINUTES ?= 1
fuzz: packages
	@$(SETUP) packages fuzz
	@tools/fuzz/run.py --minutes $(MINUTES) --corpus $(CACHE)/corpus --build "$(APART) build $(BAZEL_FLAGS) \
	--noshow_progress --config=fuzz" --query "$(APART) query --noshow_progress" $(T)

## make survive SEED=n    two hundred kills at random moments of this seed; takes as long as it takes
SEED ?= 1
survive: setup
	@$(TEST_SETUP)
	@$(BAZEL) test $(BAZEL_FLAGS) --noshow_progress $(TEST_FLAGS) --nocache_test_results --test_output=streamed \
	--test_timeout=14400 --test_env=TAAS_SURVIVAL_SEED=$(SEED) --test_env=TAAS_SURVIVAL_KILLS=200 \
	//e2e/local:survival_test

## make survive-ring SEED=n KILLS=n    ranks of jobs by all-reduce killed, one every 2 s, and some frozen: 300 take 20 minutes
KILLS ?= 300
survive-ring: setup
	@$(BAZEL) test $(BAZEL_FLAGS) --noshow_progress $(TEST_FLAGS) --nocache_test_results --test_output=streamed \
	--test_timeout=14400 --test_env=TAAS_SURVIVAL_SEED=$(SEED) --test_env=TAAS_SURVIVAL_KILLS=$(KILLS) \
	//trainer/cmd:ring_survival_test

## make bench   the measurements of docs/benchmarks.md but those of the operator (sudo bench/operator/run.py)
bench: build
	@bench/run.sh

## make bench-tools    bin/creator, which bench/operator/run.py compares with
bench-tools: setup
	@$(BAZEL_BUILD) //bench/operator:creator
	@mkdir -p bin && install -m 755 "$$($(BAZEL) info $(BAZEL_FLAGS) bazel-bin 2>/dev/null)/bench/operator/creator" bin/

## make clean   removes bin/, dist/ and Bazel's output, with that of asan, tsan and fuzz; the other caches stay
clean:
	@rm -rf bin dist
	@$(BAZEL) clean
	@for tree in $(CACHE)/{asan,tsan,fuzz}/$(THIS_CLONE); do \
		[ ! -d "$$tree" ] || $(BAZEL) --output_base="$$tree" clean --expunge || exit 1; done

setup: page

packages:
	@$(SETUP) packages && $(SETUP) python cuda

## make page-dev    the page, reloaded while it is edited; TAAS_DASHBOARD_URL is the server that it asks
page-dev: page
	@cd dashboard/web && PATH="$$(../../$(SETUP) path node):$$PATH" node node_modules/.bin/vite

# The page, which only what links the dashboard waits for.
page: packages
	@$(SETUP) toolchains
	@$(SETUP) web
