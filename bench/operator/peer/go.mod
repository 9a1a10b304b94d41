module taas.dev/bench/operator/peer

go 1.24.0

require (
	github.com/kubeflow/training-operator v1.9.0
	go.uber.org/zap v1.27.0
	k8s.io/apimachinery v0.31.3
	k8s.io/client-go v0.31.3
	sigs.k8s.io/controller-runtime v0.19.1
	sigs.k8s.io/scheduler-plugins v0.28.9
	volcano.sh/apis v1.9.0
)
