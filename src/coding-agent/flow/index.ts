// Declarations of tools for the flow policy in a directory: their files, and the tools that are known there.
export {
  approveProjectDeclarations,
  getUserDeclarationsFile,
  readDeclarations,
  readProjectDeclarations,
  storeDeclaration,
  type ProjectDeclarations,
} from './declaration-files.ts';
export { reportSessionLegs } from './session-legs.ts';
export { readForeignTools, type ForeignTools } from './foreign-config.ts';
export { listKnownTools, type KnownTools } from './known-tools.ts';
export { openReviewerModel, type AgentReviewerContext } from './agent-reviewer.ts';
