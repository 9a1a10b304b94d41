// podgroups writes the statuses of PodGroups, with the plugin's own controller. The stock program
// counts quotas too, and wants the definition of their kind.
package main

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	"sigs.k8s.io/scheduler-plugins/pkg/controllers"
)

// One look at a time, as the stock program has it.
const workers = 1

func run(kubeconfig string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientscheme.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	// Nobody asks for its metrics.
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metrics.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	groups := controllers.PodGroupReconciler{
		Client: manager.GetClient(), Scheme: scheme, Workers: workers,
	}
	if err := groups.SetupWithManager(manager); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: podgroups KUBECONFIG")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "podgroups:", err)
		os.Exit(1)
	}
}
