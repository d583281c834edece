/**
 * A database of movies in the shape of the Join Order Benchmark's (Leis and others, VLDB 2015), generated: popular movies
 * have more of everything, and frequent values are correlated. Its queries are named after those whose joins they have;
 * ranges and patterns of texts are equalities here, and the answers are counted, not their minima taken.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import { keepingLatest, type Relation, type Row, zipf } from '../graphs.ts';
import { type BenchAtom, type BenchRule, rule } from '../program.ts';
import { sqlOfQuery } from './sql-of-query.ts';
import { coldQuestion, databases, type Size, type Workload } from './workload.ts';

const columns: Readonly<Record<string, readonly string[]>> = {
  title: ['movie', 'kind', 'year'],
  name: ['person', 'gender'],
  aka_name: ['person', 'alias'],
  cast_info: ['person', 'movie', 'role'],
  company_name: ['company', 'country'],
  movie_companies: ['movie', 'company', 'kind'],
  movie_keyword: ['movie', 'keyword'],
  movie_info: ['movie', 'kind', 'value'],
  movie_rating: ['movie', 'kind', 'value'],
  movie_link: ['movie', 'other', 'kind'],
};

const kinds = ['movie', 'movie', 'episode', 'episode', 'episode', 'series', 'video', 'game'];
const roles = ['actor', 'actor', 'actress', 'producer', 'writer', 'director', 'editor', 'composer'];
const countries = ['us', 'us', 'us', 'uk', 'de', 'fr', 'it', 'jp', 'se', 'pl'];
const genres = ['drama', 'comedy', 'short', 'documentary', 'horror', 'action', 'thriller', 'crime'];
const links = ['follows', 'followed_by', 'remake_of', 'features', 'references', 'spoofs'];

/** The most frequent keywords, in this order; the others are numbered. */
const keywords = ['character_name_in_title', 'murder', 'independent_film', 'sequel', 'blood', 'superhero'];

/** `movies`: there are about 22 times as many rows. */
function database(movies: number): Relation[] {
  const prng = new Prng(131);
  const people = movies * 2;
  const companies = Math.max(4, movies / 10);
  const popular = zipf(movies, 0.6, prng);
  const famous = zipf(people, 0.5, prng);
  const large = zipf(companies, 0.8, prng);
  const keyword = zipf(Math.max(20, movies / 5), 0.9, prng);
  const rows = new Map(Object.keys(columns).map((name) => [name, new Map<string, Row>()]));
  const add = (relation: string, ...row: Row): void => {
    rows.get(relation)?.set(row.join(' '), row);
  };
  const times = (count: number, each: () => void): void => {
    for (let index = 0; index < count; index++) each();
  };
  for (let movie = 0; movie < movies; movie++) {
    // The earlier a movie's number, the more popular it is, and the more it is a movie and recent.
    const isPopular = movie < movies / 10;
    add(
      'title',
      `m${movie}`,
      isPopular ? 'movie' : prng.pick(kinds),
      `y${(isPopular ? 1990 : 1930) + prng.below(26)}`,
    );
    if (prng.chance(isPopular ? 0.9 : 0.3)) {
      add('movie_rating', `m${movie}`, 'rating', `r${prng.below(100)}`);
      add('movie_rating', `m${movie}`, 'votes', `v${prng.below(isPopular ? 1_000 : 50)}`);
    }
    if (isPopular && prng.chance(0.1)) add('movie_rating', `m${movie}`, 'top_rank', `n${prng.below(250)}`);
  }
  for (let person = 0; person < people; person++)
    add('name', `p${person}`, prng.chance(0.6) ? 'male' : 'female');
  for (let company = 0; company < companies; company++)
    add('company_name', `c${company}`, prng.pick(countries));
  times(movies * 10, () => add('cast_info', `p${famous()}`, `m${popular()}`, prng.pick(roles)));
  times(movies * 2, () => {
    const kind = prng.chance(0.5) ? 'production' : 'distribution';
    add('movie_companies', `m${popular()}`, `c${large()}`, kind);
  });
  times(movies * 4, () => {
    const rank = keyword();
    add('movie_keyword', `m${popular()}`, keywords[rank] ?? `k${rank}`);
  });
  times(movies, () => add('movie_info', `m${popular()}`, 'genre', prng.pick(genres)));
  times(movies, () => add('movie_info', `m${popular()}`, 'country', prng.pick(countries)));
  times(movies / 2, () => {
    const person = famous();
    add('aka_name', `p${person}`, `alias${person}_${prng.below(10)}`);
  });
  times(movies / 5, () => add('movie_link', `m${popular()}`, `m${popular()}`, prng.pick(links)));
  return [...rows].map(([name, its]) => ({ name, rows: [...its.values()], columns: columns[name] ?? [] }));
}

/** Eight queries ask about one database. */
const databaseOf = keepingLatest(database);

const indexes = Object.entries(columns).flatMap(([name, [first = '', second = '']]) => [
  `${name}(${first})`,
  `${name}(${second})`,
]);

const answer = (variables: readonly string[], ...body: BenchAtom[]): BenchRule =>
  rule(['answer', ...variables], ...body);

const queries: readonly (readonly [name: string, title: string, query: BenchRule])[] = [
  [
    '1a',
    'the years of ranked movies and their producers',
    answer(
      ['?m', '?y', '?c'],
      ['title', '?m', '?_', '?y'],
      ['movie_companies', '?m', '?c', 'production'],
      ['movie_rating', '?m', 'top_rank', '?_'],
    ),
  ],
  [
    '2d',
    'movies with a frequent keyword from companies of one country',
    answer(
      ['?m', '?y'],
      ['company_name', '?c', 'us'],
      ['movie_companies', '?m', '?c', '?_'],
      ['movie_keyword', '?m', 'character_name_in_title'],
      ['title', '?m', '?_', '?y'],
    ),
  ],
  [
    '6f',
    'men in movies about superheroes',
    answer(
      ['?m', '?p'],
      ['cast_info', '?p', '?m', '?_'],
      ['movie_keyword', '?m', 'superhero'],
      ['name', '?p', 'male'],
      ['title', '?m', 'movie', '?_'],
    ),
  ],
  [
    '8c',
    'other names of the writers of movies from one country',
    answer(
      ['?a', '?m'],
      ['aka_name', '?p', '?a'],
      ['cast_info', '?p', '?m', 'writer'],
      ['company_name', '?c', 'us'],
      ['movie_companies', '?m', '?c', '?_'],
      ['name', '?p', '?_'],
      ['title', '?m', '?_', '?_'],
    ),
  ],
  [
    '16b',
    'other names of everybody in movies with a frequent keyword from one country',
    answer(
      ['?a', '?m'],
      ['aka_name', '?p', '?a'],
      ['cast_info', '?p', '?m', '?_'],
      ['company_name', '?c', 'us'],
      ['movie_companies', '?m', '?c', '?_'],
      ['movie_keyword', '?m', 'character_name_in_title'],
      ['name', '?p', '?_'],
      ['title', '?m', '?_', '?_'],
    ),
  ],
  [
    '17e',
    'everybody in movies with a frequent keyword from one country',
    answer(
      ['?p'],
      ['cast_info', '?p', '?m', '?_'],
      ['company_name', '?c', 'us'],
      ['movie_companies', '?m', '?c', '?_'],
      ['movie_keyword', '?m', 'character_name_in_title'],
      ['name', '?p', '?_'],
      ['title', '?m', '?_', '?_'],
    ),
  ],
  [
    '25c',
    'the men who wrote horror with a keyword, and its votes',
    answer(
      ['?m', '?p', '?v'],
      ['cast_info', '?p', '?m', 'writer'],
      ['movie_info', '?m', 'genre', 'horror'],
      ['movie_rating', '?m', 'votes', '?v'],
      ['movie_keyword', '?m', 'murder'],
      ['name', '?p', 'male'],
      ['title', '?m', '?_', '?_'],
    ),
  ],
  [
    '33c',
    'linked movies, both rated and with companies',
    answer(
      ['?m', '?n', '?c', '?d'],
      ['movie_link', '?m', '?n', '?_'],
      ['title', '?m', 'movie', '?_'],
      ['title', '?n', 'movie', '?_'],
      ['movie_rating', '?m', 'rating', '?_'],
      ['movie_rating', '?n', 'rating', '?_'],
      ['movie_companies', '?m', '?c', 'production'],
      ['movie_companies', '?n', '?d', '?_'],
      ['company_name', '?c', 'us'],
    ),
  ],
];

export const movies: readonly Workload[] = queries.map(
  ([name, title, query]): Workload => ({
    ...coldQuestion,
    name: `movies-${name}`,
    title: `Join Order Benchmark ${name}: ${title}`,
    largePeers: databases,
    rules: [query],
    goal: query.head,
    sql: sqlOfQuery(query, (predicate) => columns[predicate] ?? [], indexes),
    build: (size: Size) => databaseOf({ tiny: 40, small: 2_000, full: 30_000, large: 150_000 }[size]),
  }),
);
