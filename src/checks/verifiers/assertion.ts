// Says whether a text states what it contains, or denies it, supposes it, asks it or reports it.

const denial =
  /\b(?:not|no|never|none|neither|nor|cannot|without|false|falsely|wrong|wrongly|incorrect|incorrectly|untrue|mistake|mistaken|mistakenly|myths?|misconceptions?|hoax|fake|fiction|fictional|lie|lies|error|debunked|disproved|refuted|denied|denies|deny|retracted|instead|rather|except|fails?|failed|unless|contrary|hardly|barely|doubt|doubtful|unlikely)\b|n['’]t\b/i;
const supposition =
  /\b(?:if|suppose|supposing|supposed|supposedly|assume|assuming|assumed|imagine|imagined|pretend|hypothetical|hypothetically|would|could|might|may|perhaps|maybe|possibly|allegedly|alleged|rumou?rs?|rumou?red|draft|proposed|planned|example)\b/i;
const report =
  /\b(?:claims?|claimed|claiming|says?|said|saying|states?|stated|believes?|believed|thinks?|thought|argues?|argued|according|reportedly|told|wrote|insists?|insisted|asserts?|asserted|suggests?|suggested|pretends?|opponents?|critics?)\b/i;
const otherArithmetic = /\b(?:base|modulo|mod|binary|octal|hex|hexadecimal|clock|string|strings|concatenat\w{0,5})\b/i;

/** Whether a text has a word that denies something. */
export const hasDenial = (text: string): boolean => denial.test(text);

/** Whether a text has a word that denies, supposes or reports something, or asks a question. */
export const isIndirect = (text: string): boolean =>
  denial.test(text) || supposition.test(text) || report.test(text) || text.includes('?') || text.includes('？');

/** Whether a text speaks of another arithmetic than that of numbers in base ten. */
export const hasOtherArithmetic = (text: string): boolean => otherArithmetic.test(text);
