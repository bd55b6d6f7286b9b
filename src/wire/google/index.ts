// Tables and writers of Google generateContent.
export { findGoogleFinish, googleFinishNames } from './finish-reasons.ts';
export { parseGoogleUsage, writeGoogleUsage } from './usage.ts';
export { writeGoogleError } from './errors.ts';
export { writeGoogleResponse } from './write-response.ts';
