// Declarations of tools for the flow policy in a directory: their files, and the tools that are known there.
export {
  approveProjectDeclarations,
  getUserDeclarationsFile,
  readDeclarations,
  readProjectDeclarations,
  storeDeclaration,
  type ProjectDeclarations,
} from './declaration-files.ts';
export { reportTrifecta } from './session-trifecta.ts';
export { declareServers, readForeignTools, type ForeignTools } from './foreign-config.ts';
export { findDeniedTools } from './denied-tools.ts';
export { listKnownTools, type KnownTools } from './known-tools.ts';
export { openReviewerModel, type AgentReviewerContext } from './agent-reviewer.ts';
