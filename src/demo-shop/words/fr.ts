import type { Words } from './en.ts';

const SAME_ORDER = 'Le bouton ouvre la page de paiement de cette même commande.';
const KEPT = 'Votre panier est conservé ; réessayez plus tard.';
const IF_PAID = 'Si vous avez déjà payé, ne payez pas de nouveau : votre paiement compte.';
const IF_CHARGED =
  'Si votre banque affiche tout de même un débit, ne payez pas de nouveau : écrivez-nous d’abord.';
const LOOKING = 'Nous vérifions et nous vous écrirons.';
const KEEP_NUMBER = 'Gardez le numéro de commande : c’est celui à indiquer quand vous nous écrivez.';

export const FR: Words = {
  name: 'Français',
  skip: 'Aller au contenu',
  back: 'Retour à la boutique',
  demo: {
    ribbon: 'Démonstration',
    footer: (shop) => `${shop} ne vend rien : elle montre comment une boutique utilise un paiement hébergé.`,
    next: 'Et maintenant : rien. Ceci est une démonstration, et rien n’est expédié.',
    money: {
      test: 'sans argent réel',
      live: 'clé réelle : les paiements prennent de l’argent réel',
      unknown: 'sans argent réel avec une clé de test',
    },
    heading: 'Ce qui se passe quand vous achetez',
    steps: [
      [
        'Nous calculons le prix',
        'Le serveur prend les prix dans son catalogue et enregistre votre commande.',
      ],
      [
        'Vous payez ailleurs',
        'Le service de paiement affiche sa propre page. Sans clé, cette page est le bac à sable intégré : ' +
          'vous jouez la banque et décidez si le paiement réussit. Bac à sable et clés de test ne déplacent aucun argent réel.',
      ],
      [
        'Nous vérifions',
        'Votre commande n’est payée que lorsque le service de paiement a confirmé son montant exact.',
      ],
    ],
  },
  shop: {
    title: 'Boutique',
    heading: 'De belles choses à rapporter',
    lead: 'Chaque commande se paie dans une seule devise.',
    nothing: 'Rien n’est en vente pour le moment.',
    currencies: 'Devises',
    quantity: 'Quantité',
    of: (product) => ` de ${product}`,
    basket: 'Votre panier',
    plainHelp: 'Indiquez combien vous voulez de chaque article, puis payez. Zéro veut dire aucun.',
    email: 'E-mail',
    emailHelp: 'Transmis au service de paiement avec votre paiement.',
    emailOfDemo: 'Pour essayer la boutique, ada@example.com suffit.',
    pay: (currency) => `Payer en ${currency}`,
    stopped: (currency) => `Le paiement en ${currency} est impossible pour le moment. ${KEPT}`,
    allStopped: `Nous ne prenons aucune nouvelle commande pour le moment. ${KEPT}`,
    open: 'Vous avez une commande ouverte',
    openHelp: 'Si vous l’avez payée, ne payez pas de nouveau :',
    openLink: 'voir cette commande',
    openPay: 'Je n’ai pas payé : aller au paiement',
  },
  script: {
    add: 'Ajouter au panier',
    less: 'un de moins : {name}',
    more: 'un de plus : {name}',
    remove: 'Retirer',
    empty: 'Il est encore vide.',
    goods: 'Articles {amount}',
    count: '{count} dans le panier',
    opening: 'Ouverture de la page de paiement…',
    openOrder:
      'Le paiement de votre dernière commande n’est pas encore confirmé. Avant d’acheter la même chose :',
    openLink: 'Voir cette commande',
    watching: 'Cette page se met à jour toute seule.',
    changed: 'Votre commande a changé. La page l’affiche comme elle est maintenant.',
    stopped: 'Cette page ne se met plus à jour. Rechargez-la pour voir votre commande.',
  },
  order: {
    receipt: 'Reçu',
    unpaid: 'Votre commande',
    item: 'Article',
    amount: 'Montant',
    total: 'Total',
    paidAt: 'Payée',
    payBy: 'À payer avant',
    number: 'Numéro de commande',
    reference: 'Référence du paiement, pour le service de paiement et votre banque',
    checks: (seconds) => `Cette page se met à jour toutes les ${seconds} secondes.`,
    help: 'Besoin d’aide ?',
    write: 'Écrivez à',
    name: 'en indiquant le numéro de commande affiché ici.',
    subject: 'Commande',
  },
  status: {
    paid: {
      stamp: 'Payée',
      heading: 'Merci, votre commande est payée',
      truth: 'Le service de paiement a confirmé le montant complet.',
      advice: `Il ne reste rien à payer. ${KEEP_NUMBER}`,
    },
    pending: {
      stamp: 'Pas encore confirmé',
      heading: 'Votre paiement n’est pas encore confirmé',
      truth: 'Si vous avez payé, le service de paiement nous le dira. Cela peut prendre quelques minutes.',
      advice:
        'Si vous avez payé, ne payez pas de nouveau. Vous pouvez fermer cette page : nous continuons à vérifier.',
    },
    failed: {
      stamp: 'Non payée',
      heading: 'Le paiement n’a pas abouti',
      truth: 'Le service de paiement dit qu’il a échoué. À notre connaissance, rien n’a été débité.',
      advice: IF_CHARGED,
    },
    expired: {
      stamp: 'Expirée',
      heading: 'Cette commande n’a pas été payée à temps',
      truth: 'Aucun paiement confirmé ne nous est parvenu. À notre connaissance, rien n’a été débité.',
      advice: IF_CHARGED,
    },
    review: {
      stamp: 'En vérification',
      heading: 'Nous vérifions votre paiement',
      truth: `Ce que dit le service de paiement ne correspond pas à cette commande. ${LOOKING}`,
      advice:
        'Ne payez pas de nouveau. Votre commande est conservée, et cette page changera après la vérification.',
    },
    cancelled: {
      stamp: 'Annulée',
      heading: 'Cette commande a été annulée',
      truth: 'Elle est close, et rien ne sera livré.',
      advice:
        'Ne la payez pas. Si vous avez payé, vous n’avez rien à faire : écrivez-nous pour votre argent.',
    },
    untouched: {
      stamp: 'Pas encore payée',
      heading: 'Cette commande attend votre paiement',
      truth: 'Aucun paiement n’a été commencé.',
      advice: 'Relisez la commande avant de payer.',
    },
    over: {
      stamp: 'Expirée',
      heading: 'Le délai de paiement de cette commande est passé',
      truth:
        'Elle vous était réservée jusqu’à l’heure indiquée ici, et aucun paiement confirmé ne nous est parvenu avant.',
      advice: 'Ne la payez plus. Si vous avez payé, écrivez-nous pour votre argent.',
    },
  },
  pay: {
    pending: {
      heading: 'Vous avez quitté la page sans payer ?',
      explanation: `Vous pouvez encore payer. ${SAME_ORDER} Si vous avez payé ou n’êtes pas sûr, attendez.`,
      button: 'Je n’ai pas payé : aller au paiement',
    },
    failed: {
      heading: 'Réessayer ?',
      explanation: `${SAME_ORDER} Votre panier est conservé aussi.`,
      button: 'Réessayer',
    },
    expired: {
      heading: 'Réessayer ?',
      explanation: `${SAME_ORDER} Les prix sont ceux de la commande.`,
      button: 'Réessayer',
    },
    untouched: {
      heading: 'Prêt à payer ?',
      explanation: 'Vous payez sur la page du service de paiement et revenez ici.',
      button: 'Aller au paiement',
    },
  },
  came: {
    received: (came, asked) => `Nous avons reçu ${came} sur ${asked}. ${LOOKING}`,
    other: (came, asked) => `Nous avons reçu ${came} pour une commande de ${asked}. ${LOOKING}`,
    tooMuch: (came, asked, surplus) =>
      `Nous avons reçu ${came} pour une commande de ${asked}. Nous rembourserons les ${surplus} en trop.`,
    surplusSent: (came, surplus, number) =>
      `Nous avons reçu ${came} et remboursé les ${surplus} en trop, numéro ${number}. ` +
      'Dès que le service de paiement le confirme, votre commande est payée.',
    chargedAgain: (surplus) =>
      `Vous avez payé ${surplus} de plus que le prix. Nous rembourserons ce que vous ne devez pas.`,
    afterCancelling: (came) => `Nous avons reçu ${came} après l’annulation de cette commande. ${LOOKING}`,
    afterDeadline: (came) => `Nous avons reçu ${came} après le délai de paiement. ${LOOKING}`,
    doNotPay: 'Ne payez pas de nouveau. Vous n’avez rien à faire.',
    surplusRefunded: (surplus, number) =>
      `Nous avons remboursé les ${surplus} que vous aviez payés en trop, numéro ${number}.`,
    accepted: (came) => `Nous avons accepté ${came} comme paiement de cette commande.`,
  },
  decided: {
    yours: 'votre paiement',
    refundStamp: 'Remboursée',
    refundHeading: 'Votre paiement a été remboursé',
    stamp: 'Close',
    heading: 'Cette commande est close',
    refund: (of, number) => `Nous avons remboursé ${of}${number === null ? '' : `, numéro ${number}`}.`,
    credit: (of) => `Nous avons porté ${of} au compte d’un autre de vos achats ici.`,
    keep: (of) => `Comme convenu avec vous, nous avons gardé ${of}.`,
    write_off: (of) =>
      `Nous n’avons pas rendu ${of} : cela aurait coûté davantage, ou nous n’avons pas pu savoir de qui il venait.`,
    other: (of) => `Nous n’avons pas retenu ${of} comme paiement de cette commande.`,
    refundAdvice:
      'Votre banque peut l’afficher après quelques jours. Pour avoir ces articles, commandez-les de nouveau.',
    advice: 'Ne payez plus cette commande. Écrivez-nous si vous n’êtes pas d’accord.',
  },
  refunded: {
    whole: { stamp: 'Payée, remboursée', heading: 'Votre paiement a été remboursé' },
    part: { stamp: 'Payée, remboursée en partie', heading: 'Une partie de votre paiement a été remboursée' },
    sentence: (money, at) =>
      `Remboursé ${money} le ${at} UTC. Votre banque peut l’afficher après quelques jours.`,
    advice: KEEP_NUMBER,
  },
  goneBack: {
    stamp: 'Argent repris',
    heading: 'De l’argent de cette commande a été repris',
    truth: 'Le service de paiement indique que de l’argent a été repris après le paiement de cette commande.',
    advice: 'Ne payez pas de nouveau. Si vous ne vous y attendiez pas, écrivez-nous : nous vérifions.',
  },
  problems: {
    'not-found': ['Il n’y a rien ici', 'Vérifiez l’adresse : il manque peut-être une lettre.'],
    'already-paid': ['Cette commande est déjà payée', 'Ne payez pas de nouveau.'],
    'under-review': ['Nous vérifions un paiement de cette commande', 'Ne payez pas de nouveau.'],
    'order-cancelled': ['Cette commande a été annulée', 'Pour avoir ces articles, commandez-les de nouveau.'],
    'order-expired': ['Le délai de paiement est passé', 'Pour avoir ces articles, commandez-les de nouveau.'],
    'out-of-stock': ['Il n’en reste pas assez', 'Choisissez-en moins. Rien n’a été débité.'],
    'request-in-flight': [
      'Votre commande est en cours',
      'Attendez un instant, revenez en arrière et réessayez.',
    ],
    'invalid-input': ['Il manque quelque chose', 'Revenez en arrière, relisez votre saisie et réessayez.'],
    'too-many-requests': ['C’était trop souvent', 'Attendez une minute, revenez en arrière et réessayez.'],
    'payment-refused': ['La page de paiement n’a pas pu s’ouvrir', `${KEPT} Rien n’a été débité.`],
    'payment-service-unavailable': [
      'La page de paiement ne peut pas s’ouvrir pour le moment',
      `${KEPT} ${IF_PAID}`,
    ],
    'currency-stopped': ['Cette devise est indisponible pour le moment', IF_PAID],
    'checkouts-stopped': ['Nous ne prenons aucune commande pour le moment', `${KEPT} ${IF_PAID}`],
    'database-unavailable': ['Cette page est indisponible pour le moment', `Rien n’est perdu. ${IF_PAID}`],
    other: ['Cela n’a pas marché', `Revenez en arrière et réessayez. ${IF_PAID}`],
  },
  faults: {
    email: 'Saisissez votre adresse e-mail complète.',
    items: 'Votre panier est vide, ou un article n’est plus en vente.',
  },
};
