# The product as an image: built from its sources, run by a user without rights, on a file system that may be read-only.
# A tag can change: docs/deploying.md says how to pin the image by its digest.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY runtime/package.json runtime/
COPY web/package.json web/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack --pack-destination /tmp && mv /tmp/fairlead-*.tgz /tmp/fairlead.tgz

FROM ${NODE_IMAGE} AS system
# Without a sandbox no command of a model is run; docs/deploying.md says when this one works in a container.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && mkdir /data /workspace \
  && chown node:node /data /workspace \
  && chmod 700 /data

FROM system AS image
COPY --from=build /tmp/fairlead.tgz /tmp/
RUN npm install --global --ignore-scripts --no-audit --no-fund --cache /tmp/npm /tmp/fairlead.tgz && rm -rf /tmp/*
COPY scripts/image-health.ts /usr/local/lib/fairlead-health.ts
# Everything that is kept lies in one volume, which nothing that a sandboxed command sees holds.
ENV NODE_ENV=production \
  XDG_CONFIG_HOME=/data/config \
  XDG_DATA_HOME=/data/data \
  XDG_STATE_HOME=/data/state \
  XDG_CACHE_HOME=/data/cache
USER node
WORKDIR /workspace
VOLUME ["/data", "/workspace"]
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "/usr/local/lib/fairlead-health.ts"]
ENTRYPOINT ["fairlead"]
# Others can reach this address, so it does not start without HARNESS_API_KEY.
CMD ["serve", "--host", "0.0.0.0"]
