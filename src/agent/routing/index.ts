// Runs whose model is chosen for them, apart from the rest so that nothing of it is loaded where nobody chooses.
export { noModelError, runWithRouting, type RunRouting } from './routed-run.ts';
