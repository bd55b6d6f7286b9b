// Measures the uncertainty of an answer from samples, calibrates the confidence on labels, and accepts or abstains.
import assert from 'node:assert/strict';
import { calibrate, computeRiskCoverage, decide, formatRiskCoverage, measureUncertainty } from 'fairlead/checks';

// Ask the same model the same question five times or more.
const question = 'Who hit the first home run in the Houston Astrodome?';
const samples = ['Mickey Mantle.', 'It was Mickey Mantle.', 'Jimmy Wynn', 'Mickey Mantle', 'I do not know.'];
const measured = measureUncertainty({ question, answer: 'Mickey Mantle hit it.', samples });
console.log(measured.outcome, measured.confidence, measured.why);
assert.notEqual(measured.confidence, undefined);

// Before labels exist, every answer is abstained from.
assert.equal(decide(measured.confidence, undefined).type, 'abstain');

// Labels of the past: the confidence that an answer had, and whether it was correct.
const outcomes = Array.from({ length: 400 }, (_, i) => ({ confidence: 1 - i / 400, correct: i < 180 || i % 3 === 0 }));
const calibration = calibrate({ outcomes, maxErrorRate: 0.05, probability: 0.95 });
console.log(calibration.why);
console.log(formatRiskCoverage(computeRiskCoverage(outcomes), 0.05));
assert.equal(decide(0.95, calibration).type, 'accept');
assert.equal(decide(0.3, calibration).type, 'abstain');
