// Informer follows ConfigMaps and TrainingJobs with client-go's shared informers, as a controller
// would, and says on request what it believes to exist.
//
//	informer KUBECONFIG
//
// For each line on standard input it writes one line of JSON: for each resource what the informer's
// store holds and what the events to its handlers add up to, both as name and resourceVersion.
// It ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type versions map[string]string

// What one informer knows, seen from its store and from its events.
type view struct {
	mutex    sync.Mutex
	informer cache.SharedIndexInformer
	events   versions
}

func identify(object any) (name, version string) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", ""
	}
	return accessor.GetNamespace() + "/" + accessor.GetName(), accessor.GetResourceVersion()
}

func (v *view) set(object any) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	name, version := identify(object)
	v.events[name] = version
}

func (v *view) remove(object any) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	// What was deleted while nobody watched comes wrapped.
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	name, _ := identify(object)
	delete(v.events, name)
}

func follow(informer cache.SharedIndexInformer) (*view, error) {
	v := &view{informer: informer, events: versions{}}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    v.set,
		UpdateFunc: func(_, object any) { v.set(object) },
		DeleteFunc: v.remove,
	})
	return v, err
}

func (v *view) report() map[string]versions {
	store := versions{}
	for _, object := range v.informer.GetStore().List() {
		name, version := identify(object)
		store[name] = version
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	events := versions{}
	for name, version := range v.events {
		events[name] = version
	}
	return map[string]versions{"store": store, "events": events}
}

func run(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(typed, 0)
	jobs := dynamicinformer.NewDynamicSharedInformerFactory(untyped, 0)
	views := map[string]*view{}
	for name, informer := range map[string]cache.SharedIndexInformer{
		"configmaps": factory.Core().V1().ConfigMaps().Informer(),
		"trainingjobs": jobs.ForResource(schema.GroupVersionResource{
			Group: "taas.dev", Version: "v1", Resource: "trainingjobs"}).Informer(),
	} {
		if views[name], err = follow(informer); err != nil {
			return err
		}
	}
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	jobs.Start(stop)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		report := map[string]map[string]versions{}
		for name, v := range views {
			report[name] = v.report()
		}
		text, err := json.Marshal(report)
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	return lines.Err()
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: informer KUBECONFIG")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}
