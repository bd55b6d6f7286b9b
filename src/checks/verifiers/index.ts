// The deterministic verifiers: they decide claims by computation and by comparison, without a model.
export { arithmeticVerifier } from './arithmetic.ts';
export { codeVerifier } from './code.ts';
export { commandVerifier } from './commands.ts';
export { dateVerifier } from './dates.ts';
export { createJsonVerifier, type JsonVerifierOptions } from './json-schema.ts';
export { presenceVerifier } from './presence.ts';
export { quotationVerifier } from './quotations.ts';
export { referenceVerifier } from './references.ts';
export { defaultVerifiers, findVerdictProblem, runVerifiers, type VerifierResult } from './run-verifiers.ts';
export { unitVerifier } from './units.ts';
export { verbatimVerifier } from './verbatim.ts';
export { verifier } from './verifier.ts';
