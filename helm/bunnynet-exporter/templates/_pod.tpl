{{/* The Pod of the Deployment. */}}
{{- define "bunnynet-exporter.pod" -}}
{{- $credentials := include "bunnynet-exporter.credentials" . | fromJsonArray -}}
metadata:
  labels:
    {{- include "bunnynet-exporter.podLabels" . | nindent 4 }}
  {{- $own := dict }}
  {{- if and (not .Values.demo) (not .Values.existingConfigMap) (eq .Values.reload "rollout") }}
  {{- $own = dict "checksum/config" (include "bunnynet-exporter.config" . | sha256sum) }}
  {{- end }}
  {{- with include "bunnynet-exporter.merge" (list .Values.podAnnotations $own) }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "bunnynet-exporter.serviceAccountName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with include "bunnynet-exporter.imagePullSecrets" . | fromJsonArray }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.hostAliases }}
  hostAliases:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- with .Values.dnsConfig }}
  dnsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: exporter
      image: {{ include "bunnynet-exporter.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- if .Values.demo }}
        - --demo
        {{- else }}
        - --config.file=/etc/bunnynet-exporter/config/config.yaml
        {{- end }}
        - --web.listen-address=:{{ int .Values.web.port }}
        {{- if include "bunnynet-exporter.requiresAuth" . }}
        - --web.probe-address=:{{ int .Values.web.probePort }}
        {{- end }}
        - --web.telemetry-path={{ .Values.web.telemetryPath }}
        {{- if .Values.web.config.existingSecret }}
        - --web.config.file=/etc/bunnynet-exporter/web/{{ .Values.web.config.key }}
        {{- end }}
        {{- if eq .Values.reload "endpoint" }}
        - --web.enable-lifecycle
        {{- end }}
        {{- if include "bunnynet-exporter.state" . }}
        - --state.file=/var/lib/bunnynet-exporter/state.json
        {{- end }}
        - --log.level={{ .Values.log.level }}
        - --log.format={{ .Values.log.format }}
        {{- with .Values.extraArgs }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.extraEnv }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - name: http
          containerPort: {{ int .Values.web.port }}
          protocol: TCP
        {{- if include "bunnynet-exporter.requiresAuth" . }}
        - name: probes
          containerPort: {{ int .Values.web.probePort }}
          protocol: TCP
        {{- end }}
      {{- $startup := .Values.startupProbe }}
      {{- if .Values.probes.startup.strict }}
      {{- $get := dict "path" "/-/ready?strict" "port" "http" }}
      {{- $startup = dict "httpGet" $get "periodSeconds" 5 "timeoutSeconds" 5 "failureThreshold" 60 }}
      {{- end }}
      {{- $probes := dict "livenessProbe" .Values.livenessProbe "readinessProbe" .Values.readinessProbe "startupProbe" $startup }}
      {{- range $kind := list "livenessProbe" "readinessProbe" "startupProbe" }}
      {{- with index $probes $kind }}
      {{ $kind }}:
        {{- include "bunnynet-exporter.probe" (dict "probe" . "root" $) | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- with .Values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if or (not .Values.demo) .Values.web.config.existingSecret .Values.extraVolumeMounts }}
      volumeMounts:
        {{- if not .Values.demo }}
        - name: config
          mountPath: /etc/bunnynet-exporter/config
          readOnly: true
        {{- end }}
        {{- if $credentials }}
        - name: credentials
          mountPath: /etc/bunnynet-exporter/credentials
          readOnly: true
        {{- end }}
        {{- if .Values.web.config.existingSecret }}
        - name: web
          mountPath: /etc/bunnynet-exporter/web
          readOnly: true
        {{- end }}
        {{- if include "bunnynet-exporter.state" . }}
        - name: state
          mountPath: /var/lib/bunnynet-exporter
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or (not .Values.demo) .Values.web.config.existingSecret .Values.extraVolumes }}
  volumes:
    {{- if not .Values.demo }}
    - name: config
      configMap:
        name: {{ .Values.existingConfigMap | default (include "bunnynet-exporter.fullname" .) }}
    {{- end }}
    {{- if $credentials }}
    - name: credentials
      projected:
        defaultMode: 0440
        sources:
          {{- range $credentials }}
          - secret:
              name: {{ .existingSecret }}
              items:
                - key: {{ .key | default "access-key" }}
                  path: {{ .name | quote }}
          {{- end }}
    {{- end }}
    {{- with .Values.web.config.existingSecret }}
    - name: web
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- if include "bunnynet-exporter.stateClaim" . }}
    - name: state
      persistentVolumeClaim:
        claimName: {{ .Values.state.claim.existing | default (include "bunnynet-exporter.fullname" .) }}
    {{- else if include "bunnynet-exporter.state" . }}
    - name: state
      emptyDir: {}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- range $field := list "nodeSelector" "affinity" "tolerations" "topologySpreadConstraints" }}
  {{- with index $.Values $field }}
  {{ $field }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}
