/** Words from which the conversations of the benchmark are made: lists by slot, and the grammar of their templates. */
import type { Prng } from '../../src/engine/testing/prng.ts';

const lists: Readonly<Record<string, string>> = {
  name: 'Mara Tobias Ingrid Callum Priya Oskar Leila Duncan Noor Felix Yasmin Henrik Tamsin Rafael Greta Idris Wanda Emil Saoirse Victor Bronwyn Anton Farah Lucian Odette Magnus Zelda Ruben Harriet Kofi Simone Alistair Renata Bjorn Cecily Dmitri Eloise Fergus Gwendolyn Hassan Imogen Joaquin Katarina Lorenzo Maeve Nikolai Ophelia Percival Quentin Rosalind Sebastian Thandiwe Ulrich Verity Winston Xenia Yusuf Zainab Agnes Barnaby Clementine Desmond Edith Florian Georgina Hamish Isadora Jasper Keziah Leopold Miriam Nathaniel Olwen Prudence Roderick Sylvia Thaddeus Ursula Vaughn Winifred',
  relative: 'sister brother cousin aunt uncle nephew niece grandmother',
  child:
    'Ottilie Benedikt Juniper Caspian Marlowe Ximena Tadeo Linnea Alaric Seraphina Bodhi Calliope Evander Fiorella Gideon Halima Ignatius Jocasta Kenji Lavinia Matteo Nerissa Osric Petronella Quincy Rosamund',
  city: 'Leeds Porto Ghent Tallinn Bergen Seville Krakow Lyon Galway Turin Malmo Basel Utrecht Cardiff Bilbao Salzburg Gdansk Nantes Aarhus Trieste Bruges Cork Dresden Split Girona Vilnius Lugano Tampere Bologna Maastricht',
  country:
    'Norway Peru Japan Morocco Iceland Vietnam Canada Portugal Kenya Chile Nepal Croatia Scotland Mongolia Jordan Finland Cuba Georgia Laos Ecuador',
  instrument:
    'cello banjo oboe harp accordion trumpet ukulele clarinet violin mandolin bassoon drums flute saxophone piano',
  sport:
    'climbing fencing rowing badminton archery judo surfing curling volleyball squash orienteering kayaking handball',
  craft:
    'pottery knitting woodturning calligraphy bookbinding weaving origami soapmaking embroidery glassblowing blacksmithing',
  animal:
    'greyhound parrot tortoise hamster kitten rabbit terrier ferret cockatoo spaniel gecko donkey beagle hedgehog',
  petname:
    'Biscuit Pickle Waffles Domino Nimbus Truffle Pretzel Juno Mochi Sprocket Bandit Clover Dumpling Figaro Gizmo Hazel',
  food: 'cilantro olives mushrooms liver anchovies beetroot aubergine oysters celery tofu marzipan sauerkraut licorice okra fennel',
  dish: 'lasagne ramen goulash paella dumplings moussaka risotto pierogi biryani gumbo shakshuka ceviche pho tagine',
  drink: 'espresso chai kombucha lemonade mead cider matcha horchata ginger-beer rooibos',
  job: 'librarian nurse welder florist accountant translator paramedic architect baker surveyor beekeeper electrician archivist carpenter',
  company:
    'Northwind Halcyon Brightwater Cobalt Meridian Larkspur Ironbridge Tidewater Summit Vantage Bluebell Quarry',
  subject:
    'astronomy botany statistics linguistics geology philosophy anatomy economics theology chemistry archaeology',
  object:
    'couch bicycle telescope kettle typewriter lawnmower bookcase sewing-machine canoe mattress camera stove projector wardrobe',
  gift: 'scarf necklace chessboard cookbook lantern teapot wristwatch globe backpack vase record-player',
  place:
    'library museum bakery market harbour stadium cathedral observatory vineyard orchard theatre greenhouse lighthouse',
  weather: 'drizzle thunder hail fog sleet sunshine wind frost',
  film: 'Amber-Tide Silent-Harvest The-Ninth-Door Paper-Moons Winter-Circuit Glass-Rivers Hollow-Crown Distant-Bells',
  book: 'Saltwater-Letters The-Clockmaker Ashes-of-June Lanterns-North Quiet-Machines The-Orchard-Keeper Blue-Cartography Seven-Bridges',
  injury: 'knee ankle shoulder wrist elbow back hip neck',
  colour: 'turquoise mustard crimson lilac olive charcoal ivory scarlet teal',
  month: 'January February March April May June July August September October November December',
  weekday: 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday',
  plant: 'basil orchid cactus lavender rosemary bonsai fern tulips sunflowers peonies',
  course: 'first-aid sign-language photography welding sailing bookkeeping screenwriting cheese-making',
  charity: 'hospice foodbank lifeboat shelter reforestation literacy hedgehog-rescue',
  language: 'Basque Welsh Swahili Finnish Korean Arabic Catalan Icelandic Tagalog Urdu Hungarian',
  event: 'wedding marathon exhibition graduation concert festival auction regatta reunion',
  vehicle: 'camper scooter estate-car pickup motorbike minivan hatchback tractor',
};

const words = new Map(
  Object.entries(lists).map(([slot, text]) => [
    slot,
    text.split(' ').map((word) => (slot === 'drink' || slot === 'object' ? word.replaceAll('-', ' ') : word)),
  ]),
);

/** The words of a slot; of the first or the last part of the list if the vocabulary is to be split. */
export function wordsOfSlot(slot: string, part: 'all' | 'first' | 'last' = 'all'): readonly string[] {
  const all = words.get(slot);
  if (all === undefined) throw new Error(`there is no slot ${slot}`);
  const middle = Math.ceil(all.length / 2);
  if (part === 'all') return all;
  return part === 'first' ? all.slice(0, middle) : all.slice(middle);
}

export function oneOf<Value>(values: readonly Value[], prng: Prng): Value {
  return values[prng.below(values.length)] as Value;
}

/** What the slots of a template mean in one use of it; the same slot is the same word throughout. */
export type Slots = Map<string, string>;

/**
 * A sentence of a template: `[one|other]` takes one of them, `{slot}` a word of the list, `{slot2}` another of the same
 * list, `{n40-90}` a number.
 */
export function sentence(template: string, slots: Slots, part: 'first' | 'last', prng: Prng): string {
  const chosen = template.replace(/\[([^\]]*)\]/g, (_, choices: string) => oneOf(choices.split('|'), prng));
  return chosen.replace(/\{([a-zA-Z0-9-]+)\}/g, (_, slot: string) => {
    const known = slots.get(slot);
    if (known !== undefined) return known;
    const value = newWord(slot, slots, part, prng);
    slots.set(slot, value);
    return value;
  });
}

function newWord(slot: string, slots: Slots, part: 'first' | 'last', prng: Prng): string {
  const range = /^n(\d+)-(\d+)$/.exec(slot);
  if (range !== null) return String(Number(range[1]) + prng.below(Number(range[2]) - Number(range[1]) + 1));
  const list = wordsOfSlot(slot.replace(/\d+$/, ''), part);
  const taken = new Set(slots.values());
  const free = list.filter((word) => !taken.has(word));
  return oneOf(free.length > 0 ? free : list, prng).replaceAll('-', ' ');
}
