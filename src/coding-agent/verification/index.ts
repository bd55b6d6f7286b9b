// Verification with the models, settings, documents and sessions of the user.
export { getVerifySettings, openJudges, openVerifyModel, selectJudgeModels, type VerifySettings } from './judges.ts';
export { openDocuments, type Documents, type OpenDocumentsOptions } from './documents.ts';
export { runVerification, type VerificationRequest } from './run-verification.ts';
export { recordVerificationSession, type RecordedVerification } from './record-session.ts';
export {
  recordVerification,
  runVerifyCheck,
  verifyConversation,
  verifySession,
  type VerifySessionContext,
} from './verify-session.ts';
export { collectSessionEvidence } from './session-evidence.ts';
export { withVerifyCheck, type VerifyCheckContext } from './verify-check.ts';
