// The embedded provider: a small model that runs in this process without a server.
export { embeddedProvider } from './embedded.ts';
export { formatDownloadSize } from './errors.ts';
export { fetchOffer, lastResortModel, type HubOffer, type SizedModel } from './offered-models.ts';
