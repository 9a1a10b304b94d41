{{/* What goes together, and what the API allows whom. */}}

{{/* What the schema cannot say. */}}
{{- define "taas.validate" -}}
{{- $operator := .Values.operator -}}
{{- if and (gt (int $operator.replicas) 1) (not $operator.leaderElection.enabled) -}}
{{- fail (printf "operator.replicas is %d without operator.leaderElection.enabled: two operators would work on the same jobs; enable it, or set operator.replicas=1" (int $operator.replicas)) -}}
{{- end -}}
{{- with $operator.leaderElection -}}
{{- if not (and (gt (int .leaseSeconds) (int .renewSeconds)) (gt (mulf 10 .renewSeconds) (mulf 12 .retrySeconds))) -}}
{{- fail (printf "operator.leaderElection: leaseSeconds (%d) must be more than renewSeconds (%d), and that more than 1.2 times retrySeconds (%d)" (int .leaseSeconds) (int .renewSeconds) (int .retrySeconds)) -}}
{{- end -}}
{{- end -}}
{{- /* A Role that cannot be made would leave the release half installed. Without a cluster, as in `helm template`, nothing is found;
who installs no definitions may not be allowed to look; the release's own namespace may be made with it. */ -}}
{{- if and $operator.namespaces .Values.crds.install (lookup "v1" "Namespace" "" "kube-system") -}}
{{- range $operator.namespaces -}}
{{- if not (or (eq . $.Release.Namespace) (lookup "v1" "Namespace" "" .)) -}}
{{- fail (printf "operator.namespaces has %s, and there is no such namespace: `kubectl create ns %s`, or leave it out" . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $operator.gangSchedulerName (eq $operator.gangScheduler "none") -}}
{{- fail "operator.gangSchedulerName is given and operator.gangScheduler is none: name the gang scheduler, too" -}}
{{- end -}}
{{- with .Values.trainer.cudaImage -}}
{{- if and (or .tag .digest) (not .repository) -}}
{{- fail "trainer.cudaImage has a tag or a digest and no repository: name the image for GPUs, too" -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail "serviceAccount.create is false and serviceAccount.name is empty: name the account that the operator shall have" -}}
{{- end -}}
{{- if and .Values.dashboard.history.enabled (gt (int .Values.dashboard.replicas) 1) -}}
{{- fail (printf "dashboard.replicas is %d and dashboard.history.enabled is true: one server keeps the history; set dashboard.replicas=1" (int .Values.dashboard.replicas)) -}}
{{- end -}}
{{- if .Values.image.registry -}}
{{- range $name, $image := dict "operator.image" $operator.image "trainer.image" .Values.trainer.image "trainer.cudaImage" .Values.trainer.cudaImage -}}
{{- /* As container runtimes tell a registry from a folder. */ -}}
{{- if regexMatch "^(localhost|[^/]*[.:][^/]*)/" $image.repository -}}
{{- fail (printf "%s.repository is %s and image.registry is %s, which goes before it: leave the registry out of one of them" $name $image.repository $.Values.image.registry) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.dashboard.ingress.enabled (not .Values.dashboard.enabled) -}}
{{- fail "dashboard.ingress.enabled is true and dashboard.enabled is false: there would be nothing behind the Ingress; enable both or none" -}}
{{- end -}}
{{- if and .Values.dashboard.history.existingClaim (not .Values.dashboard.history.enabled) -}}
{{- fail (printf "dashboard.history.existingClaim is %s and dashboard.history.enabled is false: nothing would be kept on it; enable the history, or leave the claim out" .Values.dashboard.history.existingClaim) -}}
{{- end -}}
{{- if and .Values.test.enabled (not (has "TrainingJob" $operator.kinds)) -}}
{{- fail (printf "test.enabled is true and operator.kinds is {%s}: the test is a TrainingJob; add that kind, or leave the test out" (join "," $operator.kinds)) -}}
{{- end -}}
{{- if not .Values.metrics.enabled -}}
{{- range $part := list "serviceMonitor" "prometheusRule" -}}
{{- if (index $.Values.metrics $part).enabled -}}
{{- fail (printf "metrics.%s.enabled is true and metrics.enabled is false: there would be nothing to scrape; enable both or none" $part) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What the operator does in a namespace that it works in, verb by verb. */}}
{{- define "taas.operatorRules" -}}
{{- $trainingJobs := has "TrainingJob" .Values.operator.kinds -}}
{{- $tfJobs := has "TFJob" .Values.operator.kinds -}}
{{- if $trainingJobs }}
- apiGroups: [taas.dev]
  resources: [trainingjobs]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [taas.dev]
  resources: [trainingjobs/status]
  verbs: [patch]
{{- if .Values.rbac.finalizers }}
- apiGroups: [taas.dev]
  resources: [trainingjobs/finalizers]
  verbs: [update]
{{- end }}
{{- end }}
{{- if $tfJobs }}
- apiGroups: [kubeflow.org]
  resources: [tfjobs]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [kubeflow.org]
  resources: [tfjobs/status]
  verbs: [patch]
{{- if .Values.rbac.finalizers }}
- apiGroups: [kubeflow.org]
  resources: [tfjobs/finalizers]
  verbs: [update]
{{- end }}
{{- end }}
- apiGroups: [""]
  resources: [pods, services]
  verbs: [get, list, watch, create, delete]
- apiGroups: [""]
  resources: [events, configmaps]
  verbs: [create]
{{- if eq .Values.operator.gangScheduler "volcano" }}
- apiGroups: [scheduling.volcano.sh]
  resources: [podgroups]
  verbs: [get, list, watch, create, patch, delete]
{{- else if eq .Values.operator.gangScheduler "coscheduling" }}
- apiGroups: [scheduling.x-k8s.io]
  resources: [podgroups]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
{{- if .Values.operator.adopt }}
- apiGroups: [""]
  resources: [pods, services]
  verbs: [patch]
{{- else if eq .Values.operator.gangScheduler "kueue" }}
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
{{- end }}
{{- end -}}

{{/* Where to read on about an alert: (list ROOT ALERT), or nothing. */}}
{{- define "taas.runbook" -}}
{{- with (index . 0).Values.metrics.prometheusRule.runbookUrl -}}
{{- printf "runbook_url: %s#%s" . (index $ 1 | lower) | nindent 12 -}}
{{- end -}}
{{- end -}}

{{/* The account that roles are bound to: (list ROOT NAME). */}}
{{- define "taas.subjects" -}}
- kind: ServiceAccount
  name: {{ index . 1 }}
  namespace: {{ (index . 0).Release.Namespace }}
{{- end -}}
