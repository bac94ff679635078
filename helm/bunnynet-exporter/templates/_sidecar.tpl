{{/*
The exporter beside one application, configured only by environment variables: an item for `initContainers` (native, the
default) or for `containers`. Takes this chart's own context, which a parent chart finds among its subcharts:
  {{- include "bunnynet-exporter.sidecar" (index .Subcharts "bunnynet-exporter") | nindent 8 }}
It has no readiness or startup probe, because those would delay the application.
*/}}
{{- define "bunnynet-exporter.sidecar" -}}
{{- include "bunnynet-exporter.defaults" . }}
{{- $sidecar := .Values.sidecar }}
{{- if not $sidecar.existingSecret }}
{{- fail "sidecar.existingSecret: name the Secret that holds the account's key" }}
{{- end }}
{{- $chosen := $sidecar.applications }}
{{- $names := list }}
{{- range $sidecar.extraEnv }}
{{- $names = append $names .name }}
{{- /* Without a variable that says what to poll, a key alone polls the whole account. */}}
{{- if and (or .value .valueFrom) (hasPrefix "BUNNYNET_" .name) (not (regexMatch "^BUNNYNET_(ACCOUNT|INTERVAL_FACTOR|STATE_FILE|(LOG|WEB)_.*|(VIDEO_)?ACCESS_KEY(_FILE)?|.*_URL)$" .name)) }}
{{- $chosen = true }}
{{- end }}
{{- end }}
{{- if and (ne .Values.accountName "account") (has "BUNNYNET_ACCOUNT" $names) }}
{{- fail "accountName: sidecar.extraEnv has BUNNYNET_ACCOUNT, which is the same; leave one of them out" }}
{{- end }}
{{- if not $chosen }}
{{- fail "sidecar.applications: name the application that the exporter runs beside" }}
{{- end -}}
- name: {{ $sidecar.name }}
  image: {{ include "bunnynet-exporter.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  {{- if $sidecar.native }}
  restartPolicy: Always
  {{- end }}
  env:
    # Less memory than the image's own 4 MB, for more CPU: a sidecar polls little.
    - name: NODE_OPTIONS
      value: --max-semi-space-size=1
    - name: BUNNYNET_ACCESS_KEY
      valueFrom:
        secretKeyRef:
          name: {{ $sidecar.existingSecret }}
          key: {{ $sidecar.key }}
    {{- with $sidecar.applications }}
    - name: BUNNYNET_APPLICATIONS
      value: {{ join "," . | quote }}
    {{- end }}
    {{- if ne .Values.accountName "account" }}
    - name: BUNNYNET_ACCOUNT
      value: {{ .Values.accountName | quote }}
    {{- end }}
    - name: BUNNYNET_WEB_LISTEN_ADDRESS
      value: {{ printf ":%d" (int $sidecar.port) | quote }}
    {{- with $sidecar.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - name: {{ $sidecar.portName }}
      containerPort: {{ int $sidecar.port }}
      protocol: TCP
  livenessProbe:
    httpGet:
      path: /-/healthy
      port: {{ $sidecar.portName }}
    periodSeconds: 15
    timeoutSeconds: 5
    failureThreshold: 4
  {{- with $sidecar.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    {{- if $sidecar.fixedUser }}
    runAsUser: 65532
    runAsGroup: 65532
    {{- end }}
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
    seccompProfile:
      type: RuntimeDefault
{{- end }}
