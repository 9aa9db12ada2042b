/** What pages say, in the languages they know. A page has a group of its own. */
const EN = {
  language: 'en',
  page: {
    toContent: 'Skip to the content',
    problems: 'Please look at this again:',
    back: 'Go back',
    refused: 'This form was not accepted',
    refusedText:
      'It did not come from a page of this platform that was open in this browser, or that page was too old. Nothing was done. Open the page again and send it once more.',
    failed: 'Something went wrong',
    failedText: 'It was noted on the server. Try again in a moment.',
    tooOften: 'Too many tries',
    tooOftenText: 'Wait a minute, then try again.',
    busy: 'Too many people sign in at the moment',
    busyText: 'Wait a minute, then try again.',
    realmRefused: 'Signing in did not work',
    realmRefusedText:
      'You were not let in, or the answer did not belong to this browser. Open the page you were going to again and sign in once more.',
    realmSilent: 'The sign-in service does not answer',
    realmSilentText: 'Wait a minute, then try again.',
  },
  signIn: {
    title: 'Sign in',
    name: 'User name',
    password: 'Password',
    submit: 'Sign in',
    by: (host: string) => `Sign in with ${host}`,
    wrong:
      'User name and password do not fit. After five wrong passwords in a row an account has to wait, up to fifteen minutes, and takes not even the right one.',
    help: 'No password, or forgotten it? Who runs this platform can give you a link to choose one.',
  },
  link: {
    title: 'Sign in',
    as: (name: string) => `This link signs you in as ${name}, once.`,
    submit: 'Sign in',
    choose: (name: string) => `Choose a password for ${name}. You are then signed in; the link works once.`,
    gone: 'This link does not work any more',
    goneText:
      'It was used already, has run out, or a newer one took its place. Ask for another one, or sign in with your password.',
  },
  password: {
    title: 'Choose a password',
    current: 'Your password now',
    next: 'New password',
    again: 'New password once more',
    hint: 'At least 12 characters. Several words that have nothing to do with each other are easy to remember and hard to guess.',
    submit: 'Save password',
    'too-short': 'The password needs 12 characters or more.',
    'too-long': 'The password may have 256 characters at most.',
    'too-easy': 'This password would be guessed soon; choose one that is less regular.',
    different: 'The two passwords differ.',
    wrong:
      'That is not your password now, or there were too many wrong ones: then wait up to fifteen minutes.',
  },
  account: {
    title: 'Your account',
    name: 'Name',
    login: 'User name',
    roles: 'Roles',
    noRoles: 'none',
    password: 'Password',
    changePassword: 'Change password',
    choosePassword: 'Choose a password',
    saved: 'Your new password is saved. You are signed out everywhere else.',
    signOut: 'Sign out',
    applications: 'Connected applications',
    noApplications: 'None. An MCP client that you let in is listed here.',
    application: 'Application',
    mayUse: 'May use',
    allowed: 'Allowed',
    everything: 'everything you may do',
    reading: 'reading',
    disconnect: 'Disconnect',
  },
  consent: {
    title: 'An application asks for access',
    callsItself: 'It calls itself',
    unchecked: 'Anybody can choose that name; look at where it leads back to.',
    nameless: 'It does not say its name.',
    goesBackTo: 'Leads back to',
    onThisComputer: 'a program on this computer',
    anApp: 'an app on this device that opens such addresses',
    describedBy: 'Described at',
    saysItsPage: 'Says its page is',
    willBeAble: 'What it will be able to do',
    talksToAgents: 'Talk to the agents that you choose here, as you.',
    operates: (roles: string) => `Everything that you may do here, as you. Your roles: ${roles}.`,
    reads: 'Read everything that you may read here, as you, and change nothing.',
    untilTakenBack: 'Until you take it back, for 90 days at most.',
    agents: 'Agents',
    chooseOne: 'Choose one agent at least, or deny.',
    noAgent:
      'You have no agent that is open to MCP clients, so there is nothing that you could allow. Open one for MCP first.',
    notThatAgent: (agentId: string) =>
      `It asks for the agent "${agentId}", which is none of yours or not open to MCP clients, so there is nothing that you could allow.`,
    allow: 'Allow',
    deny: 'Deny',
    signedInAs: (name: string) => `You are signed in as ${name}.`,
    notYou: 'Not you? Sign out.',
    notStarted: 'If you have not just connected an application yourself, deny.',
    gone: 'This request does not go on here',
    goneText:
      'It was answered already, has run out, or began in another browser. Go back to the application and connect it again.',
    wrong: 'The application asked in a wrong way',
    wrongText:
      'You were not sent back, because that would not be safe. Whoever made the application can mend it:',
    unknown: 'This application is not known here',
    unknownText:
      'It was never registered, or was forgotten because nobody had allowed it anything for a day. Take the connection out of the application, and add it again.',
  },
  signOut: {
    title: 'Sign out',
    text: 'You will be signed out in this browser. Keys and applications that you have connected keep working.',
    submit: 'Sign out',
    done: 'You are signed out',
    again: 'Sign in again',
  },
  connect: {
    title: 'Sign in for an agent',
    wants: (agent: string, name: string) =>
      `${agent} works for you, ${name}, and needs you to sign in here. What you sign in with is used for you alone, and nobody else sees it.`,
    at: 'at',
    begin: 'Sign in there',
    oauthHint: 'You go to its own sign-in page and come back.',
    token: 'Access token',
    tokenHint: 'Make one there, and paste it here.',
    save: 'Save',
    isThere: 'You have signed in here.',
    gone: 'This server is not used any more.',
    decline: 'I do not want to',
    done: 'Connected',
    doneText: (agent: string) => `${agent} goes on by itself. You may close this page.`,
    over: 'Nobody waits for this any more',
    overText: 'The agent went on without it. You may close this page.',
    unknown: 'There is nothing to sign in for here',
    unknownText: 'The address is not complete, or its conversation is gone.',
    foreign: 'Somebody else has to sign in here',
    foreignText: (name: string) =>
      `You are signed in as ${name}, and this is for another person. If somebody sent you this address, tell them that they have to open it themselves.`,
    leaving: 'One moment',
    leavingTo: 'You go on to',
    go: 'Go on, if nothing happens',
    failed: 'That did not work',
    again: 'Try again',
    otherBrowser:
      'This sign-in was begun in another browser. Open the address there, or begin again in this one.',
  },
  credentials: {
    title: 'Connected servers',
    none: 'Agents that work for you use no credentials of yours.',
    remove: 'Disconnect',
    removed: 'It is disconnected.',
    since: 'since',
  },
};

export type Words = typeof EN;

const HU: Words = {
  language: 'hu',
  page: {
    toContent: 'Ugrás a tartalomhoz',
    problems: 'Nézd meg újra:',
    back: 'Vissza',
    refused: 'Ezt az űrlapot nem fogadtuk el',
    refusedText:
      'Nem a platform ebben a böngészőben megnyitott oldaláról érkezett, vagy az az oldal túl régi volt. Nem történt semmi. Nyisd meg újra az oldalt, és küldd el még egyszer.',
    failed: 'Valami nem sikerült',
    failedText: 'A kiszolgálón feljegyeztük. Próbáld újra egy kicsit később.',
    tooOften: 'Túl sok próbálkozás',
    tooOftenText: 'Várj egy percet, aztán próbáld újra.',
    busy: 'Most túl sokan jelentkeznek be',
    busyText: 'Várj egy percet, aztán próbáld újra.',
    realmRefused: 'Nem sikerült a bejelentkezés',
    realmRefusedText:
      'Nem engedtek be, vagy a válasz nem ehhez a böngészőhöz tartozott. Nyisd meg újra az oldalt, ahová mentél, és jelentkezz be még egyszer.',
    realmSilent: 'A bejelentkezési szolgáltatás nem válaszol',
    realmSilentText: 'Várj egy percet, aztán próbáld újra.',
  },
  signIn: {
    title: 'Bejelentkezés',
    name: 'Felhasználónév',
    password: 'Jelszó',
    submit: 'Bejelentkezés',
    by: host => `Bejelentkezés itt: ${host}`,
    wrong:
      'A felhasználónév és a jelszó nem illik össze. Öt egymás utáni rossz jelszó után a fióknak várnia kell, legfeljebb tizenöt percet, és addig a jó jelszót sem fogadjuk el.',
    help: 'Nincs jelszavad, vagy elfelejtetted? Aki a platformot üzemelteti, adhat egy hivatkozást, amellyel választhatsz egyet.',
  },
  link: {
    title: 'Bejelentkezés',
    as: name => `Ez a hivatkozás egyszer bejelentkeztet mint ${name}.`,
    submit: 'Bejelentkezés',
    choose: name =>
      `Válassz jelszót ehhez a fiókhoz: ${name}. Utána be is jelentkeztetünk; a hivatkozás egyszer használható.`,
    gone: 'Ez a hivatkozás már nem működik',
    goneText:
      'Már felhasználták, lejárt, vagy egy újabb lépett a helyébe. Kérj másikat, vagy jelentkezz be a jelszavaddal.',
  },
  password: {
    title: 'Jelszó választása',
    current: 'A mostani jelszavad',
    next: 'Új jelszó',
    again: 'Új jelszó még egyszer',
    hint: 'Legalább 12 karakter. Néhány egymástól független szót könnyű megjegyezni és nehéz kitalálni.',
    submit: 'Jelszó mentése',
    'too-short': 'A jelszó legalább 12 karakter legyen.',
    'too-long': 'A jelszó legfeljebb 256 karakter lehet.',
    'too-easy': 'Ezt a jelszót hamar kitalálnák; válassz kevésbé szabályosat.',
    different: 'A két jelszó különbözik.',
    wrong:
      'Nem ez a mostani jelszavad, vagy túl sok volt a rossz próbálkozás: akkor várj legfeljebb tizenöt percet.',
  },
  account: {
    title: 'A fiókod',
    name: 'Név',
    login: 'Felhasználónév',
    roles: 'Szerepek',
    noRoles: 'nincs',
    password: 'Jelszó',
    changePassword: 'Jelszó módosítása',
    choosePassword: 'Jelszó választása',
    saved: 'Az új jelszavadat elmentettük. Mindenhol máshol kijelentkeztettünk.',
    signOut: 'Kijelentkezés',
    applications: 'Összekapcsolt alkalmazások',
    noApplications: 'Nincs. Itt látod majd azokat az MCP-klienseket, amelyeket beengedtél.',
    application: 'Alkalmazás',
    mayUse: 'Mit használhat',
    allowed: 'Engedélyezve',
    everything: 'mindent, amit te megtehetsz',
    reading: 'olvasás',
    disconnect: 'Leválasztom',
  },
  consent: {
    title: 'Egy alkalmazás hozzáférést kér',
    callsItself: 'Így nevezi magát:',
    unchecked: 'Ezt a nevet bárki választhatja; nézd meg, hová vezet vissza.',
    nameless: 'Nem mondja meg a nevét.',
    goesBackTo: 'Ide vezet vissza',
    onThisComputer: 'egy program ezen a számítógépen',
    anApp: 'egy alkalmazás ezen az eszközön, amely ilyen címeket nyit meg',
    describedBy: 'Leírása itt van',
    saysItsPage: 'Azt mondja, ez az oldala',
    willBeAble: 'Mit tehet majd',
    talksToAgents: 'A te nevedben beszélhet az itt kiválasztott ügynökökkel.',
    operates: roles => `Mindent megtehet a te nevedben, amit te itt megtehetsz. Szerepeid: ${roles}.`,
    reads: 'A te nevedben elolvashat mindent, amit te itt elolvashatsz, és semmit sem változtathat meg.',
    untilTakenBack: 'Amíg vissza nem vonod, legfeljebb 90 napig.',
    agents: 'Ügynökök',
    chooseOne: 'Válassz legalább egy ügynököt, vagy utasítsd el.',
    noAgent:
      'Nincs olyan ügynököd, amely nyitva áll MCP-kliensek előtt, így nincs mit engedélyezned. Előbb nyiss meg egyet MCP-hez.',
    notThatAgent: agentId =>
      `A(z) "${agentId}" ügynököt kéri, amely nem a tiéd, vagy nem áll nyitva MCP-kliensek előtt, így nincs mit engedélyezned.`,
    allow: 'Engedélyezem',
    deny: 'Elutasítom',
    signedInAs: name => `Bejelentkezve mint ${name}.`,
    notYou: 'Nem te vagy? Jelentkezz ki.',
    notStarted: 'Ha nem te csatlakoztattál most egy alkalmazást, utasítsd el.',
    gone: 'Ez a kérés itt nem folytatható',
    goneText:
      'Már megválaszolták, lejárt, vagy egy másik böngészőben kezdődött. Menj vissza az alkalmazáshoz, és csatlakoztasd újra.',
    wrong: 'Az alkalmazás hibásan kérdezett',
    wrongText:
      'Nem küldtünk vissza, mert az nem lenne biztonságos. Aki az alkalmazást készítette, kijavíthatja:',
    unknown: 'Ezt az alkalmazást itt nem ismerik',
    unknownText:
      'Soha nem regisztrálták, vagy elfelejtettük, mert egy napig senki nem engedett meg neki semmit. Távolítsd el a kapcsolatot az alkalmazásból, és add hozzá újra.',
  },
  signOut: {
    title: 'Kijelentkezés',
    text: 'Ebben a böngészőben kijelentkeztetünk. A kulcsok és az összekapcsolt alkalmazások tovább működnek.',
    submit: 'Kijelentkezés',
    done: 'Kijelentkeztél',
    again: 'Újra bejelentkezem',
  },
  connect: {
    title: 'Bejelentkezés egy ügynök számára',
    wants: (agent, name) =>
      `${agent} neked dolgozik, ${name}, és ehhez itt be kell jelentkezned. Amivel bejelentkezel, azt csak neked használja, és senki más nem látja.`,
    at: 'itt:',
    begin: 'Bejelentkezem ott',
    oauthHint: 'A saját bejelentkező oldalára kerülsz, majd visszajössz ide.',
    token: 'Hozzáférési token',
    tokenHint: 'Ott készíthetsz egyet; illeszd be ide.',
    save: 'Mentés',
    isThere: 'Itt már bejelentkeztél.',
    gone: 'Ezt a kiszolgálót már nem használjuk.',
    decline: 'Nem szeretnék',
    done: 'Kapcsolódva',
    doneText: agent => `${agent} magától folytatja. Ezt az oldalt bezárhatod.`,
    over: 'Erre már senki sem vár',
    overText: 'Az ügynök e nélkül folytatta. Ezt az oldalt bezárhatod.',
    unknown: 'Itt nincs mihez bejelentkezni',
    unknownText: 'A cím hiányos, vagy a beszélgetés már nincs meg.',
    foreign: 'Itt valaki másnak kell bejelentkeznie',
    foreignText: name =>
      `Mint ${name} vagy bejelentkezve, ez pedig másnak szól. Ha valaki elküldte neked ezt a címet, szólj neki, hogy magának kell megnyitnia.`,
    leaving: 'Egy pillanat',
    leavingTo: 'Ide mész tovább:',
    go: 'Tovább, ha nem történik semmi',
    failed: 'Ez nem sikerült',
    again: 'Újra próbálom',
    otherBrowser:
      'Ezt a bejelentkezést egy másik böngészőben kezdték. Nyisd meg ott a címet, vagy kezdd újra ebben.',
  },
  credentials: {
    title: 'Kapcsolódó kiszolgálók',
    none: 'A neked dolgozó ügynökök semmilyen hozzáférésedet nem használják.',
    remove: 'Lekapcsolás',
    removed: 'Lekapcsoltuk.',
    since: 'ekkortól:',
  },
};

/** Longer ones are no preference of a person. */
const MAX_HEADER_CHARS = 500;

/** The words of the language that this browser would rather read; English when it names none of ours. */
export function wordsFor(acceptLanguage: string | undefined): Words {
  const wishes = (acceptLanguage ?? '').slice(0, MAX_HEADER_CHARS).split(',').map(readWish);
  const weightOf = (language: string) =>
    Math.max(0, ...wishes.filter(wish => wish.language === language).map(wish => wish.weight));
  return weightOf('hu') > weightOf('en') ? HU : EN;
}

function readWish(text: string): { readonly language: string; readonly weight: number } {
  const [tag = '', ...parameters] = text.trim().toLowerCase().split(';');
  const q = parameters.map(each => /^\s*q=([01](?:\.\d{1,3})?)\s*$/.exec(each)?.[1]).find(Boolean);
  return { language: tag.split('-')[0]!, weight: Number(q ?? 1) };
}
