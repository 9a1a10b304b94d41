// netpol enforces NetworkPolicies on one node, with kube-router's own controller of them. The stock
// program also brings a router of BGP and a proxy of services, which a node of tests has from others.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// What a controller of kube-router is given beside its configuration.
type watched struct {
	pods, policies, namespaces cache.SharedIndexInformer
}

func watch(client kubernetes.Interface) watched {
	factory := informers.NewSharedInformerFactory(client, 0)
	found := watched{
		pods:       factory.Core().V1().Pods().Informer(),
		policies:   factory.Networking().V1().NetworkPolicies().Informer(),
		namespaces: factory.Core().V1().Namespaces().Informer(),
	}
	forever := make(chan struct{})
	factory.Start(forever)
	factory.WaitForCacheSync(forever)
	return found
}

func newController(client kubernetes.Interface, config *options.KubeRouterConfig, seen watched) (
	*netpol.NetworkPolicyController, error) {
	tables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return nil, err
	}
	controller, err := netpol.NewNetworkPolicyController(client, config, seen.pods, seen.policies,
		seen.namespaces, &sync.Mutex{}, tables, sets)
	if err != nil {
		return nil, err
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		seen.pods:       controller.PodEventHandler,
		seen.policies:   controller.NetworkPolicyEventHandler,
		seen.namespaces: controller.NamespaceEventHandler,
	} {
		if _, err = informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	return controller, nil
}

func run() error {
	config := options.NewKubeRouterConfig()
	config.EnableIPv4 = true
	// Changes are followed as they come; this is for rules that somebody else took away.
	config.IPTablesSyncPeriod = time.Minute
	flag.StringVar(&config.Kubeconfig, "kubeconfig", "", "file of the cluster")
	flag.StringVar(&config.HostnameOverride, "node", "", "whose pods are guarded")
	services := flag.String("service-range", "", "addresses of services")
	flag.Parse()
	config.ClusterIPCIDRs = []string{*services}
	rest, err := clientcmd.BuildConfigFromFlags("", config.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	controller, err := newController(client, config, watch(client))
	if err != nil {
		return err
	}
	beats := make(chan *healthcheck.ControllerHeartbeat)
	var running sync.WaitGroup
	running.Add(1)
	go controller.Run(beats, make(chan struct{}), &running)
	for range beats {
		// Somebody must take them; the cluster's tests see by its end whether it lives.
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "netpol:", err)
		os.Exit(1)
	}
}
