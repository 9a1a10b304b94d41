//go:build tools

// Package tools keeps the module of the program that build.sh builds in go.mod.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
