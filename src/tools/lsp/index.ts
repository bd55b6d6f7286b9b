// Language servers: what code means, asked of the programs that know, and what an edit broke.
export { codeIntelligence } from './code-intelligence.ts';
export { diagnosticsAfter, type AfterEditOptions } from './after-edit.ts';
export { builtInServers, definitionFor, serversIn, withOwn, type ServerDefinition } from './definition.ts';
export { languageServers, type LanguageServerOptions, type LanguageServers } from './servers.ts';
export type { Allowed, Approved, ServerApproval } from './program.ts';
