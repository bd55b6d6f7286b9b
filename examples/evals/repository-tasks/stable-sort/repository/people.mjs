export function sortByAge(people) {
  for (let i = 1; i < people.length; i++)
    for (let k = i; k > 0 && people[k].age <= people[k - 1].age; k--)
      [people[k - 1], people[k]] = [people[k], people[k - 1]];
  return people;
}
