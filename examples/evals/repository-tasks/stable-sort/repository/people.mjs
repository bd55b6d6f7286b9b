export const sortByAge = (people) => people.sort((a, b) => (a.age > b.age ? 1 : -1));
