// Guards: who may do what, decided before it is done.
export { kindOf, sessionGrants, type Grants, type Locate } from './grants.ts';
export { permission, questionFor, type PermissionOptions } from './permission.ts';
export { readPolicies, readPolicy, type PolicyPlaces } from './policy/files.ts';
export { policyGate, type PolicyGateOptions } from './policy/gate.ts';
export { judge, type JudgeGround, type Judgement } from './policy/judge.ts';
export { carefulOfPackages } from './policy/packages.ts';
export { parsePolicy, type Policy, type PolicyRule } from './policy/policy.ts';
export { chooseSandbox, type ChoiceOptions } from './sandbox/choose.ts';
export { containerSandbox, type ContainerOptions } from './sandbox/container.ts';
export { noSandbox, sandboxed, type Confines, type Sandbox } from './sandbox/sandbox.ts';
export { cleanJson, withoutSecrets } from './secrets/door.ts';
export { openKeeper, secretKeeper, type SecretKeeper } from './secrets/keeper.ts';
export { fileTrust, memoryTrust, type Approval, type Standing, type Trust } from './trust.ts';
