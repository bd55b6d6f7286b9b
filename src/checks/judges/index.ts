// Judges of claims: their families, prompts, votes and quorum.
export { getModelFamily, unknownFamily } from './model-family.ts';
export { judgementSchema, parseJudgement, parseJudgements, type Judgement } from './parse-judgement.ts';
export {
  checkJudgement,
  createBatches,
  formatJudgePrompt,
  judgeBatch,
  noVote,
  type CheckedVote,
  type JudgePrompt,
  type JudgeTask,
} from './judge-claims.ts';
export { isNegated } from './quotation.ts';
export { createPassageSelector, findTerms, splitPassages, type Passage } from './passages.ts';
export { findMissing, findNames, findNumbers, findQuotation } from './quotation.ts';
export { decideByQuorum, defaultQuorum, formatVotes, selectJudges, type QuorumResult } from './quorum.ts';
