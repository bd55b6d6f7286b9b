// Lists the licences that packages may have: one list for code that is in the published package, a longer one for tools.

const permissive: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Licences of packages that only build or test the product; their code is not distributed. */
const toolLicences: ReadonlySet<string> = new Set([...permissive, 'MPL-2.0', 'Python-2.0']);

/** Whether code under a licence may be distributed in the bundle. */
export const isBundleLicence = (licence: string | undefined): boolean => isAllowed(licence, permissive);

/** Whether a package of a licence may be installed for building and testing. */
export const isToolLicence = (licence: string | undefined): boolean => isAllowed(licence, toolLicences);

/** Of `A OR B` one must be allowed, of `A AND B` both; an expression that nests the two is not allowed. */
function isAllowed(licence: string | undefined, allowed: ReadonlySet<string>): boolean {
  const expression = (licence ?? '').trim().replace(/^\((.*)\)$/, '$1');
  if (/[()]/.test(expression) || (/ OR /.test(expression) && / AND /.test(expression))) return false;
  if (expression.includes(' AND ')) return expression.split(' AND ').every((each) => allowed.has(each.trim()));
  return expression.split(' OR ').some((each) => allowed.has(each.trim()));
}
