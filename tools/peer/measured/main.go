// The TFJob controller of Kubeflow's training-operator as a program whose client limits are flags,
// which those of the release are not.
//
// Without the flags its limits, threads and logging are the release's own. It leaves out what no
// measured request passes through: the admission webhook, and the certificates that it needs.
package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	schedulerpluginsv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"go.uber.org/zap/zapcore"

	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/controller.v1/tensorflow"
)

func main() {
	metricsAddr := flag.String("metrics-bind-address", ":8080", "where /metrics is served")
	threads := flag.Int("controller-threads", 1, "jobs that are worked on at one time")
	qps := flag.Float64("kube-api-qps", 0, "requests per second; 0: the library's own limit")
	burst := flag.Int("kube-api-burst", 0, "requests at once; 0: the library's own limit")
	elect := flag.Bool("leader-elect", false, "let one of several processes work")
	electionNamespace := flag.String("leader-election-namespace", "", "where the Lease is")
	// What the release starts with.
	logging := zap.Options{Development: true, StacktraceLevel: zapcore.DPanicLevel}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(kubeflowv1.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(schedulerpluginsv1alpha1.AddToScheme(scheme))

	config := ctrl.GetConfigOrDie()
	if *qps > 0 {
		config.QPS = float32(*qps)
	}
	if *burst > 0 {
		config.Burst = *burst
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: *metricsAddr},
		LeaderElection:          *elect,
		LeaderElectionID:        "1ca428e5.training-operator.kubeflow.org",
		LeaderElectionNamespace: *electionNamespace,
	})
	endIf(err, "make the manager")
	reconciler := tensorflow.NewReconciler(manager, common.GenNonGangSchedulerSetupFunc())
	endIf(reconciler.SetupWithManager(manager, *threads), "set up the TFJob controller")
	endIf(manager.Start(ctrl.SetupSignalHandler()), "run")
}

func endIf(err error, attempt string) {
	if err != nil {
		ctrl.Log.Error(err, "cannot "+attempt)
		os.Exit(1)
	}
}
