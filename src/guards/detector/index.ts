// The injection detector: one weak signal beside the flow policy.
export {
  createDetector,
  defaultDetectorThreshold,
  type Detector,
  type DetectorChannel,
  type DetectorOptions,
  type DetectorScore,
} from './detector.ts';
export {
  calibrateThreshold,
  readDetectorDocuments,
  scanDocuments,
  type DetectorDocument,
  type DetectorReport,
} from './scan.ts';
