// Public API of language servers: code intelligence, and diagnostics after edits.
export { codeIntelligence } from './code-intelligence.ts';
export { withDiagnostics, type AfterEditOptions } from './after-edit.ts';
export {
  builtInServers,
  findServerDefinition,
  parseLanguageServers,
  mergeServerDefinitions,
  type LanguageServerDefinition,
} from './definition.ts';
export { languageServers, type LanguageServerOptions, type LanguageServers } from './servers.ts';
export type { RequestServerApproval, IsServerApproved, ServerApproval } from './resolve-binary.ts';
export { foldersOutside } from '../safe-path.ts';
