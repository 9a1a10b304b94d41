// kwok plays nodes and their pods with kwok's own controllers and stages. The stock program also
// serves exec, logs and metrics of what it plays, which links another release of the libraries.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/client/clientset/versioned"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/utils/client"
)

// What kwok does to nodes and to pods, by what it is done to.
type stages = map[internalversion.StageResourceRef][]*internalversion.Stage

func stockStages() (stages, error) {
	found := stages{}
	for _, text := range []string{
		nodefast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
	} {
		stage, err := config.UnmarshalWithType[*internalversion.Stage](text)
		if err != nil {
			return nil, fmt.Errorf("read a stage: %w", err)
		}
		found[stage.Spec.ResourceRef] = append(found[stage.Spec.ResourceRef], stage)
	}
	return found, nil
}

func connect(kubeconfig string, conf *controllers.Config) error {
	clients, err := client.NewClientset("", kubeconfig)
	if err != nil {
		return err
	}
	restConfig, err := clients.ToRESTConfig()
	if err != nil {
		return err
	}
	if conf.DynamicClient, err = clients.ToDynamicClient(); err != nil {
		return err
	}
	conf.ImpersonatingDynamicClient = clients.ToImpersonatingDynamicClient()
	if conf.RESTMapper, err = clients.ToRESTMapper(); err != nil {
		return err
	}
	if conf.RESTClient, err = rest.RESTClientFor(restConfig); err != nil {
		return err
	}
	if conf.TypedClient, err = kubernetes.NewForConfig(restConfig); err != nil {
		return err
	}
	conf.TypedKwokClient, err = versioned.NewForConfig(restConfig)
	return err
}

func run(ctx context.Context) error {
	// The parallelism that kwok takes for itself.
	conf := controllers.Config{
		Clock: clock.RealClock{}, PodPlayStageParallelism: 4, NodePlayStageParallelism: 4,
		NodeLeaseParallelism: 4, PodsOnNodeSyncParallelism: 1,
	}
	kubeconfig := flag.String("kubeconfig", "", "file of the cluster")
	flag.StringVar(&conf.ManageNodesWithAnnotationSelector,
		"manage-nodes-with-annotation-selector", "", "nodes that are played")
	flag.StringVar(&conf.DisregardStatusWithAnnotationSelector,
		"disregard-status-with-annotation-selector", "", "nodes and pods that are let alone")
	flag.StringVar(&conf.CIDR, "cidr", "", "addresses of pods")
	flag.StringVar(&conf.NodeIP, "node-ip", "", "address of the nodes")
	flag.UintVar(&conf.NodeLeaseDurationSeconds, "node-lease-duration-seconds", 40,
		"a node that is silent for so long is away")
	flag.Parse()
	var err error
	if conf.LocalStages, err = stockStages(); err != nil {
		return err
	}
	if conf.ID, err = controllers.Identity(); err != nil {
		return err
	}
	if err = connect(*kubeconfig, &conf); err != nil {
		return fmt.Errorf("connect to the cluster of %s: %w", *kubeconfig, err)
	}
	controller, err := controllers.NewController(conf)
	if err != nil {
		return err
	}
	if err = controller.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		os.Exit(1)
	}
}
