export const calc = (list) => list.reduce((total, each) => total + each, 0);
