// The coefficients of the support scorer: a logistic regression on nine lexical features. NOTICE names the data that they were fitted on.

/** A feature: its name, its mean and standard deviation in the data of the fit, and its coefficient after standardisation. */
export type ScorerFeature = {
  readonly name: string;
  readonly mean: number;
  readonly deviation: number;
  readonly coefficient: number;
};

/** The version of the coefficients; a calibration is valid for one version. */
export const scorerVersion = 1;

/** The constant of the regression. */
export const intercept: number = -0.061081;

/** The features, in the order in which the scorer returns them. */
export const scorerFeatures: readonly ScorerFeature[] = [
  { name: 'overlap', mean: 0.64592, deviation: 0.264671, coefficient: 0.256456 },
  { name: 'best1', mean: 0.497148, deviation: 0.260182, coefficient: 0.074081 },
  { name: 'best3', mean: 0.55779, deviation: 0.259708, coefficient: 0.446504 },
  { name: 'best8', mean: 0.593075, deviation: 0.261026, coefficient: 0.360769 },
  { name: 'num_missing', mean: 0.074789, deviation: 0.248138, coefficient: -0.492656 },
  { name: 'cap_missing', mean: 0.096265, deviation: 0.289859, coefficient: -0.455779 },
  { name: 'bigram', mean: 0.28065, deviation: 0.276075, coefficient: 0.085847 },
  { name: 'log_claim_len', mean: 2.290257, deviation: 0.405811, coefficient: -0.079213 },
  { name: 'log_ev_len', mean: 4.783544, deviation: 1.344892, coefficient: 0.046815 },
];
