// The public names of the ACP server: the Agent Client Protocol in versions 1 and 2 for editors.
export type { AcpClient, AcpSession } from './acp-session.ts';
export {
  createAcpSessionRegistry,
  type AcpSessionParams,
  type AcpSessionRegistry,
  type AcpSessionSummary,
  type CreateAcpClient,
} from './session-registry.ts';
export { createV1Agent } from './v1.ts';
export { createV2Agent } from './v2.ts';
