// The embedded provider: a small model that runs in a child process without a server.
export { embeddedProvider } from './embedded.ts';
