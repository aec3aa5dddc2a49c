# syntax=docker/dockerfile:1
# Tags, not digests: a digest has to be read from the registry that you trust. Pin both before you go live
# (docker buildx imagetools inspect node:22-bookworm-slim); .github/dependabot.yml then keeps them fresh.

FROM node:22-bookworm-slim AS build
WORKDIR /app
# The lock file first: an edit to the sources does not install everything anew.
COPY package.json package-lock.json prisma.config.ts ./
COPY prisma ./prisma
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY deploy ./deploy
COPY src ./src
# The client again: the sources that were copied over do not bring it. The bundle has neither the compiler nor the test
# tools nor the embedded PostgreSQL, and of Prisma's compilers of queries only PostgreSQL's: 300 MB of packages become 57.
RUN npx prisma generate && npm run bundle

# No shell, no package manager, not root.
FROM gcr.io/distroless/nodejs22-debian12:nonroot
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
COPY --from=build /app/bundle ./
USER nonroot
EXPOSE 3000
# SIGTERM is answered within ten seconds; node is the first process, so it hears it.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 \
  CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:3000/healthz').then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]
# The image's entry point is node. A worker is the same image with dist/worker.js.
CMD ["dist/server.js"]
