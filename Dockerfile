# syntax=docker/dockerfile:1
# Only the exporter's bundle on a small Node base: no shell, no npm, no root. The bundle is the same for every
# architecture, so it is built once, on the builder's platform.

# Node and npm, to build with.
ARG BUILD_IMAGE=node:24-bookworm-slim
# Node 24 to run on, in /nodejs/bin or in the usual places.
ARG BASE_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# For a private registry or its token, pass the secret `npmrc`; it stays out of the image.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --ignore-scripts --no-audit --no-fund
COPY scripts ./scripts
COPY src ./src
COPY simulator ./simulator
COPY tsconfig.json ./
ARG BUILD_REVISION=unknown
RUN BUILD_REVISION="$BUILD_REVISION" npm run build && mkdir state

FROM ${BASE_IMAGE}
ARG BUILD_REVISION=unknown
ARG VERSION=unknown
LABEL org.opencontainers.image.title="bunnynet-exporter" \
      org.opencontainers.image.description="Prometheus exporter for bunny.net" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.url="https://github.com/bunnynet-exporter/bunnynet-exporter" \
      org.opencontainers.image.source="https://github.com/bunnynet-exporter/bunnynet-exporter" \
      org.opencontainers.image.documentation="https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/README.md" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${BUILD_REVISION}"
COPY --from=build /build/dist/*.js /build/dist/package.json /app/
COPY LICENSE docs/licences.md /app/
# Where a volume for the counters may be mounted. Without one nothing is written.
COPY --from=build --chown=65532:65532 /build/state /var/lib/bunnynet-exporter
WORKDIR /app
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    PATH=/nodejs/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 65532:65532
EXPOSE 10057
# Node's permission model: the program may read files, and write those in /var/lib/bunnynet-exporter, where `state.file` can be. It may
# write no other, start no process and load no native code.
# The first three options, NODE_OPTIONS and MALLOC_TRIM_THRESHOLD_ keep it small: code is compiled only where it runs often, by one
# thread beside the program's own, which also collects garbage, new objects are at most 4 MB (1 MB in a sidecar, which takes less
# memory and more CPU), and freed memory goes back to the system. The heap may have half of the container's memory limit: V8's own
# default, 256 MiB, would not notice a smaller limit before the container is killed.
# The thread in which passwords are compared needs --allow-worker; Node warns that such a thread is not held to the model.
ENTRYPOINT ["node", "--liftoff-only", "--v8-pool-size=1", "--no-sparkplug", "--max-old-space-size-percentage=50", "--permission", "--allow-fs-read=*", "--allow-fs-write=/var/lib/bunnynet-exporter/*", "--allow-worker", "--disable-warning=PERM0006", "/app/bunnynet-exporter.js"]
