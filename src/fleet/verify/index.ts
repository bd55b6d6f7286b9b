// Verification of an answer by models that did not write it.
export { judgementSchema, verifyConduct, type Judgement, type VerifyOptions } from './conduct.ts';
