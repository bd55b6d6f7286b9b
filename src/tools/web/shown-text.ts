// What tools of the web load with their first result: the neutralization of text of third parties.
export { neutralizeText } from '../../core/index.ts';
