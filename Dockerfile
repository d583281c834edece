# The headless service as an image: docker build -t corollary .
# What it needs to be run, and why, is in docs/packaging.md; compose.yaml is the short way.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && node scripts/licences.mjs out/licences.txt

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/out ./out
COPY --from=build /app/resources ./resources
COPY packaging/ready.mjs packaging/before-start.mjs ./packaging/
# A volume begins as the folder is here, and so belongs to the user that writes to it.
RUN mkdir /data && chown node:node /data
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=9300 \
    STORAGE_DIR=/data/knowledge \
    COROLLARY_ENDPOINT_FILE=/data/endpoint.json \
    EXTRACTION_ENABLED=true
USER node
VOLUME /data
EXPOSE 9300
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "packaging/ready.mjs"]
# No shell between: SIGTERM reaches the service, which writes a snapshot and ends.
STOPSIGNAL SIGTERM
# Without a key it refuses to serve: HOST opens it to every container of the network.
ENTRYPOINT ["node", "--import", "./packaging/before-start.mjs", "out/main/headless.js"]
