// Guards: who may do what, decided before it is done.
export { kindOf, sessionGrants, type Grants, type Locate } from './grants.ts';
export { permission, questionFor, type PermissionOptions } from './permission.ts';
export { chooseSandbox, type ChoiceOptions } from './sandbox/choose.ts';
export { noSandbox, sandboxed, type Confines, type Sandbox } from './sandbox/sandbox.ts';
export { fileTrust, memoryTrust, type Approval, type Standing, type Trust } from './trust.ts';
