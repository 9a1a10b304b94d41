// Modules of which only the definitions of their kinds are taken: what a real cluster with them
// lets through is what tests meet. `go mod download` of this folder pins them in go.sum.
module taas.dev/tools/kubernetes/definitions

go 1.25.0

require (
	github.com/prometheus-operator/prometheus-operator v0.85.0
	sigs.k8s.io/scheduler-plugins v0.34.7
	volcano.sh/volcano v1.10.0
)
