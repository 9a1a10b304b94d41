//go:build tools

// Package tools keeps the module of the program that build.sh builds in go.mod.
package tools

import _ "github.com/kubeflow/training-operator/cmd/training-operator.v1"
