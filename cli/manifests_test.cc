// What `taas` says of manifests, without a cluster: validate, convert, and submit as far as its
// flags and --dry-run.

#include <unistd.h>

#include <string>
#include <vector>

#include "cli/command_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ManifestsTest : public CommandFixture {
 protected:
  ManifestsTest() : CommandFixture("manifests") {}
};

TEST_F(ManifestsTest, TheExamplesAreValid) {
  EXPECT_EQ(Run({"validate", "-f", "examples"}), 0) << out_.str() << err_.str();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ManifestsTest, ABadManifestIsALinePerField) {
  const std::string path = Write("bad.yaml",
                                 "apiVersion: taas.dev/v1\nkind: TrainingJob\n"
                                 "metadata: {name: a}\nspec: {rolls: {}, roles: {worker: {}}}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(path + ": "), HasSubstr("spec.rolls")));
  EXPECT_EQ(Run({"validate", "-f", Write("broken.yaml", "a: [")}), 1);
  EXPECT_EQ(Run({"validate", "-f", "/nonexistent.yaml"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent.yaml"));
}

// Symptom: `kubectl get tj -A -o yaml | taas validate -f -` named a field and not which of 50 jobs.
TEST_F(ManifestsTest, OfSeveralObjectsEachLineNamesItsOwn) {
  const std::string bad = "spec: {rolls: {}, roles: {worker: {template: {spec: {containers: "
                          "[{name: trainer, image: a}]}}}}}\n";
  const std::string head = "apiVersion: taas.dev/v1\nkind: TrainingJob\n";
  const std::string path =
      Write("several.yaml", head + "metadata: {name: a, namespace: ml}\n" + bad + "---\n" + head +
                                "metadata: {name: b}\n" + bad + "---\n" + head + bad);
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(path + ": ml/a: unknown field \"spec.rolls\""),
                                HasSubstr(path + ": b: unknown field \"spec.rolls\""),
                                HasSubstr(path + ": document 3: unknown field \"spec.rolls\"")));
}

// Symptom: one `replicas: -1` made three lines, two of which were about its consequences.
TEST_F(ManifestsTest, WhatFollowsFromReplicasThatAreNoneIsNoMistakeOfItsOwn) {
  const std::string path = Write(
      "none.yaml",
      "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\n"
      "spec:\n"
      "  schedulingPolicy: {minAvailable: 3}\n"
      "  roles: {worker: {replicas: -1, template: {spec: {containers: [{name: trainer, image: a}"
      "]}}}, chief: {replicas: 2, template: {spec: {containers: [{name: trainer, image: a}]}}}}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("spec.roles.worker.replicas: Invalid value: -1"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("minAvailable")));
  EXPECT_THAT(out_.str(), HasSubstr("spec.roles.chief")) << "that mistake is one by itself";
}

// It took three rounds: unknown fields, then types, then names.
TEST_F(ManifestsTest, AllThatIsWrongWithAManifestIsToldAtOnceWithWhatWasMeant) {
  const std::string path = Write(
      "typos.yaml",
      "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\n"
      "spec:\n"
      "  trainer:\n"
      "    model: {name: lent}\n"
      "    data: {format: genrated}\n"
      "    optimizer: {name: sdg, learningRate: fast}\n"
      "    batchSize: \"100\"\n"
      "    maxStep: 2000\n"
      "  roles: {chief: {replicas: 1}, wroker: {replicas: 2}}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  for (const char* words :
       {"unknown field \"spec.roles.wroker\" (did you mean \"worker\"?)",
        "unknown field \"spec.trainer.maxStep\" (did you mean \"maxSteps\"?)",
        "spec.trainer.optimizer.learningRate: Invalid value",
        "spec.trainer.batchSize: Invalid value", "(did you mean \"lenet\"?)",
        "(did you mean \"sgd\"?)", "(did you mean \"generated\"?)"}) {
    EXPECT_THAT(out_.str(), HasSubstr(words));
  }
}

TEST_F(ManifestsTest, AManifestWithoutParameterServersIsToldWhatToDo) {
  const std::string path = Write(
      "no_ps.yaml",
      "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\n"
      "spec: {trainer: {model: {name: lenet}, data: {format: generated}, maxSteps: 9},\n"
      "       roles: {worker: {replicas: 2}}}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(),
              HasSubstr("add spec.roles.ps, or spec.trainer.strategy: {type: Local} for one "
                        "process, or {type: AllReduce} for several without ps"));
}

// Symptom: `taas submit -f job.yaml --set trainer.seed=7 --steps 300` trained what the file said.
TEST_F(ManifestsTest, SubmitOfAFileDoesWhatFlagsSayOrRefusesThem) {
  const std::string path =
      Write("job.yaml",
            "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\n"
            "spec: {roles: {worker: {template: {spec: {containers: [{name: trainer, image: i}]}}}}}"
            "\n");
  EXPECT_EQ(Run({"submit", "-f", path, "--dry-run", "client", "--set", "metadata.name=b", "--set",
                 "roles.worker.replicas=3"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("name: b"), HasSubstr("replicas: 3")));
  EXPECT_EQ(Run({"submit", "-f", path, "--dry-run", "client", "--set", "nonsense=1"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("spec.nonsense"));
  // Symptom: "unknown field", and no word on where it is.
  EXPECT_EQ(Run({"submit", "-f", path, "--dry-run", "client", "--set",
                 "optimizer.learningRate=0.1"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("unknown field \"spec.optimizer\" (did you mean "
                                    "\"trainer.optimizer\"?)"));
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--steps", "300"}, {"--workers", "2"},
                                             {"--kind", "tfjob"}, {"--", "python", "a.py"}}) {
    std::vector<std::string> words = {"submit", "-f", path, "--dry-run", "client"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(Run(words), 2) << more[0];
    EXPECT_THAT(err_.str(), HasSubstr("change the file, or give --set PATH=VALUE"));
  }
}

// Who comes from SyncReplicasOptimizer or from towers found no flag, and no word on what to give.
TEST_F(ManifestsTest, GradientsOfAnUpdateHaveAFlagAndTowersAWord) {
  const std::vector<std::string> job = {"submit", "--name", "m", "--model", "softmax",
                                        "--dataset", "generated", "--workers", "2", "--ps", "1",
                                        "--steps", "10", "--dry-run", "client"};
  const auto with = [&job](std::vector<std::string> more) {
    more.insert(more.begin(), job.begin(), job.end());
    return more;
  };
  EXPECT_EQ(Run(with({"--strategy", "sync", "--replicas-to-aggregate", "2"})), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("replicasToAggregate: 2"));
  EXPECT_EQ(Run(with({"--strategy", "towers"})), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--set trainer.strategy.type=Towers"));
}

// What nobody refuses is told, and is no failure.
TEST_F(ManifestsTest, WarningsAreToldByValidateAndSubmit) {
  const std::string path = Write(
      "warned.yaml",
      "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec:\n"
      "  trainer:\n    model: {name: softmax}\n    data: {format: generated}\n"
      "    strategy: {type: Local}\n    checkpoint: {dir: /tmp/x}\n    maxSteps: 9\n"
      "  roles: {worker: {replicas: 1}}\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"validate", "-f", path},
        {"submit", "-f", path, "--dry-run", "client"}}) {
    EXPECT_EQ(Run(words), 0) << err_.str();
    EXPECT_THAT(err_.str(),
                HasSubstr(path + ": warning: spec.trainer.checkpoint.dir: /tmp/x is on no volume"));
  }
}

// `taas submit --model lenet --workers 1 --steps 10` was refused for want of a ps, and errors
// named fields of a manifest that nobody had written.
TEST_F(ManifestsTest, SubmitTellsOfFlagsWhatIsWrongWithThem) {
  const std::vector<std::string> model = {"submit", "--name", "m", "--model", "lenet",
                                          "--workers", "1", "--dry-run", "client"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = model;
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  };
  EXPECT_EQ(run({"--dataset", "generated", "--steps", "10"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("type: Local"));
  EXPECT_EQ(run({"--dataset", "generated"}), 2);
  EXPECT_EQ(err_.str(),
            "taas submit: --steps: is needed\nRun `taas submit --help` for more information.\n");
  EXPECT_EQ(run({"--steps", "10"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("taas submit: --train-images: there is no data to train on"));
  EXPECT_EQ(run({"--steps", "10", "--dataset", "idx"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--train-images: "));
  EXPECT_EQ(run({"--steps", "10", "--train-images", "/d/i.gz"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--train-labels: "));
  EXPECT_EQ(run({"--steps", "10", "--dataset", "genrated"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--dataset: Unsupported value"));
  EXPECT_THAT(err_.str(), HasSubstr("did you mean \"generated\"?"));
  EXPECT_EQ(run({"--steps", "10", "--dataset", "generated", "--set", "trainer.seed=x"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("spec.trainer.seed"));
}

TEST_F(ManifestsTest, BothKindsAndSeveralDocumentsAreChecked) {
  const std::string path = Write("two.yaml",
                                 "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: tf}\n"
                                 "spec: {notAField: 1}\n---\n"
                                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("notAField"));
  EXPECT_THAT(err_.str(), HasSubstr("kind ConfigMap is not checked"));
  EXPECT_EQ(Run({"validate", "-f", Write("none.yaml", "kind: ConfigMap\n")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no TrainingJob or TFJob"));
}

// "1 job is valid".
TEST_F(ManifestsTest, TyposInATemplateAreToldWithTheirPathsAndWhatWasMeant) {
  const std::string path = Write("typos.yaml", R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: typos}
spec:
  tfReplicaSpecs:
    Worker:
      template:
        spec:
          nodeSelecter: {gpu: "true"}
          containers:
            - name: tensorflow
              image: me/tf:1
              comand: [python, train.py]
              imagePullPolicy: Allways
              env: [{name: NO, value: 0.1}]
              resources: {limits: {memory: 1 GB}}
)");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  for (const char* words :
       {"template.spec.nodeSelecter\" (did you mean \"nodeSelector\"?)",
        "template.spec.containers[0].comand\" (did you mean \"command\"?)",
        "template.spec.containers[0].imagePullPolicy: Unsupported value: \"Allways\"",
        "template.spec.containers[0].env[0].name: Invalid value: \"boolean\"",
        "template.spec.containers[0].env[0].value: Invalid value: \"number\"",
        "template.spec.containers[0].resources.limits.memory: Invalid value: \"1 GB\""}) {
    EXPECT_THAT(out_.str(), HasSubstr(words));
  }
  EXPECT_EQ(Run({"convert", "-f", path}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("template.spec.nodeSelecter\" (did you mean"));
}

TEST_F(ManifestsTest, ConvertPrintsAnObjectForEachTfJob) {
  EXPECT_EQ(Run({"convert", "-f", "examples/tfjob.yaml"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("kind: TrainingJob"), Not(HasSubstr("tensorflow\n"))));
  EXPECT_EQ(Run({"validate", "-f", Write("converted.yaml", out_.str())}), 0) << out_.str();
  EXPECT_EQ(Run({"convert", "-f", "examples/mnist.yaml"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("there is no TFJob in it"));
}

TEST_F(ManifestsTest, AManifestMayComeThroughAPipe) {
  const std::string manifest =
      "apiVersion: taas.dev/v1\nkind: TrainingJob\n"
      "metadata: {name: a}\nspec: {rolls: {}, roles: {worker: {}}}\n";
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  ASSERT_EQ(::write(fds[1], manifest.data(), manifest.size()),
            static_cast<ssize_t>(manifest.size()));
  ::close(fds[1]);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(fds[0], STDIN_FILENO);
  EXPECT_EQ(Run({"validate", "-f", "-"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("-: unknown field \"spec.rolls\"")) << err_.str();
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(fds[0]);
}

}  // namespace
}  // namespace taas
