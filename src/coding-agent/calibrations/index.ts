// The public names of the stored calibrations.
export { listCalibrations, readCalibration, saveCalibration, type FoundCalibration } from './store.ts';
