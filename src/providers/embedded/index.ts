// Exports of src/providers/embedded for other modules.
export { embeddedProvider } from './embedded.ts';
