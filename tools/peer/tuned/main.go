// training-operator's TFJob controller with limits that its own program cannot be given: 500
// requests a second in bursts of 1,000, and ten threads, instead of 20, 30 and one. All else is as
// there: the webhook, its certificates, the probes.
//
//	training-operator-tuned --kube-api-qps=500 --kube-api-burst=1000 --controller-threads=10
package main

import (
	"errors"
	"flag"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	coscheduling "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/cert"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/webhooks"
)

// The configuration of admission that its manifests make.
const webhookConfiguration = "validator.training-operator.kubeflow.org"

type options struct {
	qps, burst, threads, webhookPort int
	metrics, probes, service, secret string
	schemes                          controllers.EnabledSchemes
}

func flags() *options {
	o := &options{}
	flag.IntVar(&o.qps, "kube-api-qps", 500, "Requests per second.")
	flag.IntVar(&o.burst, "kube-api-burst", 1000, "Requests at once.")
	flag.IntVar(&o.threads, "controller-threads", 10, "Jobs that are looked at side by side.")
	flag.IntVar(&o.webhookPort, "webhook-server-port", 9443, "Port of the webhook.")
	flag.StringVar(&o.metrics, "metrics-bind-address", ":8080", "Address of the metrics.")
	flag.StringVar(&o.probes, "health-probe-bind-address", ":8081", "Address of the probes.")
	flag.StringVar(&o.service, "webhook-service-name", "training-operator", "The webhook's Service.")
	flag.StringVar(&o.secret, "webhook-secret-name", "training-operator-webhook-cert",
		"Secret of the webhook's certificate.")
	flag.Var(&o.schemes, "enable-scheme", "A kind to work on, several times; default: tfjob.")
	flag.Parse()
	if o.schemes.Empty() {
		o.schemes = controllers.EnabledSchemes{kubeflow.TFJobKind}
	}
	return o
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, kubeflow.AddToScheme, volcano.AddToScheme,
		coscheduling.AddToScheme,
	} {
		check(add(scheme), "know the kinds")
	}
	return scheme
}

func check(err error, what string) {
	if err != nil {
		ctrl.Log.Error(err, what)
		os.Exit(1)
	}
}

// start makes the controllers, once there is a certificate for their webhooks.
func start(mgr ctrl.Manager, o *options, certified <-chan struct{}) {
	<-certified
	for _, kind := range o.schemes {
		setUp := controllers.SupportedSchemeReconciler[kind]
		check(setUp(mgr, common.GenNonGangSchedulerSetupFunc(), o.threads), "control "+kind)
		check(webhooks.SupportedSchemeWebhook[kind](mgr), "serve the webhook of "+kind)
	}
}

func main() {
	o := flags()
	ctrl.SetLogger(zap.New())
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = float32(o.qps), o.burst
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 newScheme(),
		Metrics:                metricsserver.Options{BindAddress: o.metrics},
		WebhookServer:          webhook.NewServer(webhook.Options{Port: o.webhookPort}),
		HealthProbeBindAddress: o.probes,
	})
	check(err, "make the manager")
	certified := make(chan struct{})
	check(cert.ManageCerts(mgr, cert.Config{
		WebhookServiceName:       o.service,
		WebhookSecretName:        o.secret,
		WebhookConfigurationName: webhookConfiguration,
	}, certified), "rotate certificates")
	check(mgr.AddHealthzCheck("healthz", healthz.Ping), "serve /healthz")
	check(mgr.AddReadyzCheck("readyz", func(request *http.Request) error {
		select {
		case <-certified:
			return mgr.GetWebhookServer().StartedChecker()(request)
		default:
			return errors.New("there is no certificate yet")
		}
	}), "serve /readyz")
	go start(mgr, o, certified)
	check(mgr.Start(ctrl.SetupSignalHandler()), "run")
}
