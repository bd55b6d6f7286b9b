// The trust store alone, for code that is loaded at every start.
export { fileTrust, memoryTrust, type ContentApproval, type TrustStatus, type TrustStore } from '../trust.ts';
