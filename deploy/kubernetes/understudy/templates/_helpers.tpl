{{- define "understudy.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "understudy.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "understudy.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "understudy.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "understudy.selector" -}}
app.kubernetes.io/name: {{ include "understudy.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "understudy.labels" -}}
{{ include "understudy.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "understudy.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}

{{- define "understudy.serviceAccountName" -}}
{{- default (ternary (include "understudy.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{/* A user that owns nothing, in a pod that may do nothing. */}}
{{- define "understudy.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "understudy.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Other flags, other Jobs: a Job cannot be changed, and files of another run must not be merged with these. */}}
{{- define "understudy.arenaRun" -}}
{{- $arena := .Values.arena -}}
{{- $what := dict "game" $arena.game "seats" $arena.seats "deals" $arena.deals "seed" $arena.seed "args" $arena.args "shards" $arena.shards "image" (include "understudy.image" .) -}}
{{- $what | toJson | sha256sum | trunc 8 }}
{{- end }}

{{- define "understudy.arenaName" -}}
{{- printf "%s-arena-%s" (include "understudy.fullname" . | trunc 40 | trimSuffix "-") (include "understudy.arenaRun" .) }}
{{- end }}
