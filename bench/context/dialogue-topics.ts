/**
 * What the people of the benchmark's conversations talk about: two sets of topics with other sentences, one by which
 * the search may be improved and one that is only measured.
 *
 * `A` and `B` speak; `{me}` and `{you}` are their names as seen by A. Lines of `later` come in a later session. The
 * answers are the lines marked with `*`.
 */

export const questionKinds = [
  'one turn',
  'two turns',
  'update',
  'preference',
  'other words',
  'name',
  'number',
] as const;
export type QuestionKind = (typeof questionKinds)[number];

export interface Topic {
  readonly kind: QuestionKind;
  readonly lines: readonly string[];
  readonly later?: readonly string[];
  readonly question: string;
}

export interface Talk {
  readonly topics: readonly Topic[];
  /** Lines about nothing in particular. */
  readonly small: readonly string[];
}

/** Talk by which the search may be improved. */
export const friends: Talk = {
  topics: [
    {
      kind: 'one turn',
      lines: [
        '*A: [I started|I have started|Guess what, I started] learning the {instrument} [this spring|a few weeks ago], my teacher lives in {city}.',
        'B: [That sounds lovely|Good for you]! How is it going?',
      ],
      question: '[Which instrument is {me} learning?|What instrument did {me} start learning?]',
    },
    {
      kind: 'one turn',
      lines: [
        '*A: We [spent the weekend|had a long weekend] at the {place} in {city} and [took hundreds of pictures|stayed until closing time].',
        'B: I have always wanted to go there.',
      ],
      question: 'What did {me} visit in {city}?',
    },
    {
      kind: 'one turn',
      lines: [
        '*A: I signed up for a {course} course [at the community centre|in the evenings].',
        'B: Brave! Tell me when you are done.',
      ],
      question: 'Which course did {me} sign up for?',
    },
    {
      kind: 'one turn',
      lines: [
        'A: Sorry that I was so quiet lately.',
        '*A: I have been volunteering for the {charity} [every weekend|on Sundays], it takes up most of my free time.',
      ],
      question: '[Where does {me} volunteer?|What is {me} volunteering for?]',
    },
    {
      kind: 'two turns',
      lines: [
        '*B: So where did you end up staying [on your trip to|when you went to] {country}?',
        '*A: In a tiny cabin near the lake, no heating at all, [just a wood stove|but the view made up for it].',
      ],
      question: 'Where did {me} stay in {country}?',
    },
    {
      kind: 'two turns',
      lines: [
        '*B: Did the doctor say anything about your {injury}?',
        '*A: Six more weeks of rest, and then [we will see|another scan].',
        'B: Oh no, get well soon.',
      ],
      question: 'What did the doctor tell {me} about the {injury}?',
    },
    {
      kind: 'two turns',
      lines: [
        '*A: Which colour did you pick for the kitchen in the end?',
        '*B: {colour}, [after three test pots|and I regret nothing].',
      ],
      question: 'What colour is the kitchen of {you}?',
    },
    {
      kind: 'two turns',
      lines: [
        '*A: My {relative} finally told us about the {event}.',
        'B: And? Do not keep me waiting!',
        '*A: It will be in {city}, [in|at the end of] {month}.',
      ],
      question: 'Where will the {event} of the {relative} of {me} be?',
    },
    {
      kind: 'update',
      lines: ['A: I live in {city} [now|these days], close to the old town.', 'B: Nice area!'],
      later: [
        '*A: We [have moved|moved] to {city2} last month, still living out of boxes.',
        'B: What a change.',
      ],
      question: '[Where does {me} live now?|Which city did {me} move to?]',
    },
    {
      kind: 'update',
      lines: ['A: I work as a {job} at {company}.', 'B: I did not know that.'],
      later: ['*A: I quit {company} and started a new job as a {job2}.', 'B: Congratulations!'],
      question: 'What is the new job of {me}?',
    },
    {
      kind: 'update',
      lines: ['A: The {event} is on {weekday}, do not forget.', 'B: It is in my calendar.'],
      later: [
        '*A: They moved the {event} to {weekday2} because of the {weather}.',
        'B: Thanks for telling me.',
      ],
      question: 'To which day was the {event} of {me} moved?',
    },
    {
      kind: 'preference',
      lines: [
        'B: Shall I cook something for you on {weekday}?',
        '*A: Please, but no {food}, I [cannot stand|hate] the taste of it.',
      ],
      question: 'What food does {me} hate?',
    },
    {
      kind: 'preference',
      lines: ['*A: My favourite drink is {drink}, [I could live on it|nothing comes close].', 'B: Noted!'],
      question: "What is {me}'s favourite drink?",
    },
    {
      kind: 'preference',
      lines: [
        '*A: I prefer [trains to planes|taking the train], even if it [takes|lasts] all day, flying makes me nervous.',
        'B: I see what you mean.',
      ],
      question: 'How does {me} prefer to travel?',
    },
    {
      kind: 'preference',
      lines: ['*B: I enjoy {sport} far more than {sport2}.', 'A: Really? I would have guessed otherwise.'],
      question: 'Which sport does {you} enjoy most?',
    },
    {
      kind: 'other words',
      lines: [
        '*A: My {injury} is killing me since the race, I can hardly [walk|sleep].',
        'B: Poor you, put some ice on it.',
      ],
      question: 'Which injury does {me} have?',
    },
    {
      kind: 'other words',
      lines: [
        '*A: We got ourselves a {animal}, [eight weeks old|from the shelter], and nobody sleeps anymore.',
        'B: Send me a picture at once!',
      ],
      question: 'What pet does {me} own?',
    },
    {
      kind: 'other words',
      lines: ['*A: I finished {book} last night, could not put it down.', 'B: I will borrow it then.'],
      question: 'Which novel has {me} read?',
    },
    {
      kind: 'other words',
      lines: [
        '*A: On {weekday} evenings I sit at the wheel and get clay everywhere.',
        'B: That must be relaxing.',
      ],
      question: 'When does {me} do pottery?',
    },
    {
      kind: 'name',
      lines: [
        '*A: My {relative} {child} just got a place at the university, to read {subject}.',
        'B: You must be proud.',
      ],
      question: 'Who is {child} to {me}?',
    },
    {
      kind: 'name',
      lines: [
        '*A: We called the {animal} {petname}, it was the first name that all of us liked.',
        'B: Adorable.',
      ],
      question: "[What is the name of {me}'s {animal}?|Who is {petname}?]",
    },
    {
      kind: 'name',
      lines: ['*A: {child} from {company} offered me a ride to {city}.', 'B: That is kind.'],
      question: 'Who offered {me} a ride to {city}?',
    },
    {
      kind: 'number',
      lines: ['*A: The {object} cost {n40-900} euros, and it was the cheapest one.', 'B: Prices are mad.'],
      question: "How much did {me}'s {object} cost?",
    },
    {
      kind: 'number',
      lines: ['*A: I ran {n5-42} kilometres on {weekday}, my longest run so far.', 'B: Show-off!'],
      question: 'Who ran {n5-42} kilometres?',
    },
    {
      kind: 'number',
      lines: ['*A: My appointment is on {n1-28} {month} at half past nine.', 'B: I will drive you.'],
      question: 'What does {me} have on {n1-28} {month}?',
    },
  ],
  small: [
    '[Hi|Hello|Hey] {you}, [how are you|how have you been|long time no see]!',
    'I am [fine|good|a bit tired], thanks. [And you|What about you]?',
    'The {weather} here [will not stop|was terrible this week].',
    'Did you watch {film}? [I fell asleep|It was better than I thought].',
    '[Same here|Me too|I feel the same].',
    'I made {dish} [yesterday|on {weekday}] and burnt half of it.',
    'That is [great|funny|wonderful] to hear, {you}.',
    'I have to [go now|run], talk to you [soon|on {weekday}].',
    'My {relative} came over and we talked for hours.',
    'Work is [busy|slow] at the moment, {company} wants everything by {weekday}.',
    'I was thinking about learning {language}.',
    'The {plant} on my balcony finally [bloomed|died].',
    'We should visit the {place} together one day.',
    'I heard that {child} is in {city} again.',
    'It took me {n2-9} hours to clean the {object}.',
    'You always know what to say, {you}.',
    'Do you remember the {event} in {month}?',
    'My {vehicle} broke down again.',
    'I read that {country} is lovely in {month}.',
    'Some days I just want to stay in bed with a cup of {drink}.',
    'How is your {relative}?',
    'Let me know if you need anything.',
    'I would like to try {craft} or maybe {sport}.',
    'They did not have {food} at the shop, so I bought {food2}.',
    'Who would live in {city} voluntarily?',
    'What is your favourite film?',
    'I do not know which job I would pick.',
  ],
};

/** Talk that is only measured: of a person with an assistant, and among colleagues. */
export const colleagues: Talk = {
  topics: [
    {
      kind: 'one turn',
      lines: [
        '*A: I registered for the evening class in {subject}, it begins in {month}.',
        'B: Excellent. Would you like a reading list?',
      ],
      question: 'In what subject is {me} taking an evening class?',
    },
    {
      kind: 'one turn',
      lines: [
        'B: Anything planned for the holidays?',
        '*A: We are driving to {city} with the {vehicle}, my {relative} has rented a house there.',
      ],
      question: "Who rented a house in {city} for {me}'s holidays?",
    },
    {
      kind: 'one turn',
      lines: [
        '*B: By the way, the meeting room on the third floor has been turned into a {place}, of all things.',
        'A: You are joking.',
      ],
      question: 'What was the meeting room turned into, according to {you}?',
    },
    {
      kind: 'one turn',
      lines: [
        '*A: For her birthday I gave my {relative} a {gift} that I found at a flea market.',
        'B: Good choice.',
      ],
      question: 'What present did {me} give to the {relative}?',
    },
    {
      kind: 'two turns',
      lines: [
        '*A: Can you help me decide what to plant beside the {object}?',
        'B: How much sun does it get?',
        '*A: Hardly any. Then I guess it will be {plant}.',
      ],
      question: 'What will {me} plant beside the {object}?',
    },
    {
      kind: 'two turns',
      lines: [
        '*B: Who is going to take over the {company} account?',
        '*A: {child}, starting next {weekday}.',
      ],
      question: 'According to {me}, who takes over the {company} account?',
    },
    {
      kind: 'two turns',
      lines: [
        '*B: How was the interview at {company}?',
        '*A: Awful, I forgot everything I had prepared.',
        'B: It happens to the best.',
      ],
      question: "How did {me}'s interview at {company} go?",
    },
    {
      kind: 'update',
      lines: ['A: At the moment I drive a {vehicle}.', 'B: How many miles has it done?'],
      later: ['*A: I sold the {vehicle} and bought a {vehicle2} instead.', 'B: A sensible decision.'],
      question: 'What vehicle did {me} buy after selling the {vehicle}?',
    },
    {
      kind: 'update',
      lines: ['A: My goal is to save {n1000-4000} pounds for the journey to {country}.', 'B: A solid plan.'],
      later: [
        '*A: I changed my savings goal for {country} to {n5000-9000} pounds.',
        'B: I have updated the plan.',
      ],
      question: "What is {me}'s savings goal for {country}?",
    },
    {
      kind: 'update',
      lines: ['A: {child} is my manager at {company}.', 'B: I met them once.'],
      later: [
        '*A: My manager left, {child2} is leading our team from now on.',
        'B: How do you feel about it?',
      ],
      question: 'Who leads the team of {me} now?',
    },
    {
      kind: 'preference',
      lines: [
        '*A: Please recommend books without violence, I like slow stories about {craft} and old houses.',
        'B: Then try {book}.',
      ],
      question: 'What kind of books does {me} like?',
    },
    {
      kind: 'preference',
      lines: [
        '*A: I would rather have meetings in the morning, after lunch I am useless.',
        'B: I will keep it in mind.',
      ],
      question: 'What time of day does {me} want meetings?',
    },
    {
      kind: 'preference',
      lines: ['*B: I love {dish}, but it must be very spicy.', 'A: Then come to the new place in {city}.'],
      question: 'How does {you} love {dish}?',
    },
    {
      kind: 'other words',
      lines: ['*A: The landlord wants us out by the end of {month}.', 'B: That is very short notice.'],
      question: 'When does {me} have to leave the apartment?',
    },
    {
      kind: 'other words',
      lines: [
        '*A: I am up every night because the little one has a cold.',
        'B: Sleep will come back one day.',
      ],
      question: 'Why is {me} sleeping badly?',
    },
    {
      kind: 'other words',
      lines: [
        '*A: Three hours on the phone with the bank, and the card is still blocked.',
        'B: Unbelievable.',
      ],
      question: 'What trouble did {me} have with a bank card?',
    },
    {
      kind: 'name',
      lines: [
        '*A: The plumber is called {child} and only comes on {weekday}s.',
        'B: I will send an invoice.',
      ],
      question: 'What is the name of the plumber of {me}?',
    },
    {
      kind: 'name',
      lines: ['*B: {child} translated the contract into {language} for us.', 'A: Did it cost much?'],
      question: 'What did {child} do for {you}?',
    },
    {
      kind: 'name',
      lines: ['*A: I adopted {petname} from a family that moved to {country}.', 'B: Lucky {animal}.'],
      question: 'From whom did {me} adopt {petname}?',
    },
    {
      kind: 'number',
      lines: ['*A: The flight leaves at {n6-11}:{n10-55} from gate {n20-60}.', 'B: Have a safe trip.'],
      question: "From which gate does {me}'s flight leave at {n6-11}:{n10-55}?",
    },
    {
      kind: 'number',
      lines: [
        '*B: Our newsletter has {n1200-9800} subscribers now, mostly from {country}.',
        'A: More than I expected.',
      ],
      question: 'How many subscribers does the newsletter of {you} have?',
    },
    {
      kind: 'number',
      lines: ['*A: Invoice {n1000-9999} from {company} is still open.', 'B: Accounting is on it.'],
      question: 'What is known about invoice {n1000-9999}?',
    },
  ],
  small: [
    '[Good morning|Good evening], [could you help me with something|I have a question]?',
    'Of course. [What is it about|Go ahead|Tell me more].',
    'The {vehicle} in front of the office belongs to {child}.',
    'I [think|believe] that we need a longer break between the meetings.',
    'Here is a short list: {dish}, {dish2} and something with {food}.',
    'Could you [repeat|summarise] the last point?',
    'The deadline for {company} is on {n1-28} {month}.',
    'It has been a long day, and the {weather} does not help.',
    'I bought a {gift} for the {event}.',
    '{company} bought {company2}, did you read that?',
    'You are welcome, {you}.',
    'We had {n3-40} guests at the {event}.',
    'My {relative} moved to {country} years ago.',
    'What would you do in my place?',
    'In general {drink} is better in the morning than {drink2}.',
    'Thank you, that [helps|is useful].',
    'Remember to water the {plant}.',
    'I lost my notes about {subject}, of course.',
    'On {weekday} I am at the {place}.',
    'Please write a message to {child} in {language}.',
    'Books about {craft} are hard to find.',
    'Who wants to go to {city} for the {event}?',
    'The team has a new {object}.',
    'That would be a reason to celebrate.',
  ],
};
