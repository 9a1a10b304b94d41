{{/* Names, labels, arguments and rights of the dashboard. */}}

{{- define "taas.dashboardName" -}}
{{ include "taas.fullname" . }}-dashboard
{{- end -}}

{{/* They never change: a Deployment's selector cannot be changed. */}}
{{- define "taas.dashboardSelectorLabels" -}}
app.kubernetes.io/name: taas-dashboard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of a pod: without a version, so that a new chart alone starts no pod anew. */}}
{{- define "taas.dashboardPodLabels" -}}
{{- $ours := include "taas.dashboardSelectorLabels" . | fromYaml -}}
{{- $_ := set $ours "app.kubernetes.io/part-of" "taas" -}}
{{- toYaml (merge $ours .Values.commonLabels) -}}
{{- end -}}

{{- define "taas.dashboardLabels" -}}
{{- toYaml (merge (include "taas.dashboardPodLabels" . | fromYaml) (include "taas.labels" . | fromYaml)) -}}
{{- end -}}

{{- define "taas.dashboardArgs" -}}
{{- $dashboard := .Values.dashboard -}}
- dashboard
{{- with .Values.operator.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
- --kinds={{ join "," .Values.operator.kinds }}
- --gpu-resource={{ .Values.operator.gpuResource }}
- --addr={{ .Values.operator.bindAddress }}:8090
{{- with $dashboard.basePath }}
- --base-path={{ . }}
{{- end }}
{{- with $dashboard.hosts }}
- --hosts={{ join "," . }}
{{- end }}
{{- with $dashboard.frameAncestors }}
- --frame-ancestors={{ join "," . }}
{{- end }}
{{- if $dashboard.readOnly }}
- --read-only
{{- end }}
{{- if $dashboard.history.enabled }}
- --history-file=/history/history.db
- --history-days={{ $dashboard.history.days }}
{{- end }}
- --event-dir=/events/copies
- --log-format={{ .Values.operator.logFormat }}
- --log-level={{ .Values.operator.logLevel }}
{{- end -}}

{{/* Whether the page shows queues of Kueue: "yes" or nothing. */}}
{{- define "taas.dashboardKueue" -}}
{{- if or .Values.dashboard.kueue (eq .Values.operator.gangScheduler "kueue") }}yes{{ end }}
{{- end -}}

{{/* What the dashboard reads for everybody, in a namespace that it shows. It writes nothing by itself: what a caller
changes, and logs, go with the caller's token. */}}
{{- define "taas.dashboardRules" -}}
{{- $verbs := ternary "[get, list, watch]" "[list, watch]" .Values.dashboard.history.enabled -}}
{{- if has "TrainingJob" .Values.operator.kinds }}
- apiGroups: [taas.dev]
  resources: [trainingjobs]
  verbs: {{ $verbs }}
{{- end }}
{{- if has "TFJob" .Values.operator.kinds }}
- apiGroups: [kubeflow.org]
  resources: [tfjobs]
  verbs: {{ $verbs }}
{{- end }}
- apiGroups: [""]
  resources: [pods, events]
  verbs: [list, watch]
{{- if .Values.dashboard.history.enabled }}
# The last lines of replicas, for the history.
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
# What replicas use over time.
- apiGroups: [metrics.k8s.io]
  resources: [pods]
  verbs: [list]
{{- end }}
{{- if include "taas.dashboardKueue" . }}
- apiGroups: [kueue.x-k8s.io]
  resources: [localqueues, workloads]
  verbs: [list, watch]
{{- end }}
{{- end -}}
