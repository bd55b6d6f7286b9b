// Whether a value was marked private in this process: the values themselves are loaded with the detectors.
let isSet = false;

/** Notes that a value was marked. */
export const noteMarkedValue = (): void => {
  isSet = true;
};

/** Whether a value was marked. */
export const hasMarkedValues = (): boolean => isSet;
