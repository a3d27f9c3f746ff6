"""The words of the own-coin form, in the languages of ``respondent.words``."""

from __future__ import annotations

from collections.abc import Sequence

from respondent import words

RIGHT_TO_LEFT = ("ar", "fa", "he", "ur")

WORDS = {
    "en": {
        "language": "English",
        # Throwing
        "coin-once": "Flip a coin once, out of sight.",
        "coin-twice": "Flip a coin twice, out of sight.",
        "coin-times": "Flip a coin {count} times, out of sight.",
        "die-once": "Roll a die once, out of sight.",
        "die-twice": "Roll a die twice, out of sight.",
        "die-times": "Roll a die {count} times, out of sight.",
        "read-coins": "Heads counts as 1, tails as 2.",
        "read-row": "Put them in a row as one number: after {throws} that is {number}.",
        "heads": "heads",
        "tails": "tails",
        "heads-heads": "heads, then heads",
        "heads-tails": "heads, then tails",
        "tails-heads": "tails, then heads",
        "tails-tails": "tails, then tails",
        "heads-any": "heads first, whatever comes second",
        "tails-any": "tails first, whatever comes second",
        "one-each": "heads once and tails once",
        "some-heads": "heads at least once",
        "some-tails": "tails at least once",
        "anything": "anything",
        "range": "{first} to {last}",
        "or": "{first} or {last}",
        "rule-forced": "{got}: enter “{response}”.",
        "rule-truth": "{got}: enter your true answer.",
        "rule-opposite": "{got}: enter the opposite of your true answer.",
        "rule-pair": (
            "“{got}” and true answer “{answer}”, or anything else and true answer “{other}”: "
            "enter “{response}”."
        ),
        "true-answer": "True answer “{answer}”",
        "you-got": "You got",
        "enter": "Enter",
        # The page
        "heading": "With your own coin and dice",
        "promise": (
            "Nobody learns your true answer to a protected question, not even this device: "
            "you enter only what your coin or die makes of it."
        ),
        "need-coin": "You need a coin.",
        "need-die": "You need a die.",
        "need-both": "You need a coin and a die.",
        "first": (
            "First flip or roll, where no person and no camera can see it. "
            "Keep the outcome secret, also afterwards."
        ),
        "then": (
            "Then enter what the instructions say, even if it is not your true answer. That is "
            "no lie: everybody knows the odds, and the results are worked out with them."
        ),
        "once": "Do this once for each question, and do not repeat it because of the outcome.",
        "on-paper": "This page can also be printed and filled in on paper.",
        "protected": "Protected: nobody, not even this device, learns your true answer.",
        "outcome": "What you enter",
        "answer": "Your answer",
        "tells": "What this response can tell",
        "only-if": "Only if you answered “{answers}” to question {number}.",
        "else-choose": "Otherwise choose “{none}”.",
        "else-empty": "Otherwise leave this empty.",
        "none": "Does not apply to me",
        "choose": "Choose …",
        "number": "A number from {low} to {high}.",
        "skip-empty": "Leave it empty if you prefer not to say.",
        "invitation": "Invitation code",
        "invitation-help": "The part of your invitation link after #.",
        "send": "Send",
        "only-this": "What you entered is sent with a random key, and nothing else.",
        "fingerprint": "Fingerprint of this survey",
        "languages": "Languages",
        # What is not right yet
        "not-sent": "Not stored yet. Please look at this:",
        "question": "Question {number}",
        "missing": "Nothing is entered here.",
        "applies": "By your earlier answers this question is for you.",
        "applies-not": "By your earlier answers this question is not for you.",
        "together": "Choose “{none}” for all of these or for none.",
        "alone": "“{skip}” goes with no other choice.",
        "invitation-missing": "The invitation code is missing.",
        # What became of it
        "stored": "Stored",
        "only-stored": "This was stored, and nothing else:",
        "first-stays": (
            "This form had been sent before. What was sent first stays, and this is it:"
        ),
        "entered": "What it says",
        "done": "You can close this page. Your coin or die stays your secret.",
        "again": "Open the form",
        "not-stored": "Not stored",
        "not-offered": "This survey has no form for coins and dice of one's own.",
        "changed": "The survey has changed since this form was opened. Please open it again.",
        "unknown": "The form was not sent as it was made.",
        "paused": "The survey is paused. Please send the form again later.",
        "closed": "The survey is closed.",
        "not-yet": "The survey has not opened yet.",
        "uninvited": "The survey needs an invitation, and this code is none of its.",
        "spent": "This invitation has been used already.",
        "unavailable": "It could not be stored. Please send the form again.",
    },
    "de": {
        "language": "Deutsch",
        "coin-once": "Werfen Sie verdeckt einmal eine Münze.",
        "coin-twice": "Werfen Sie verdeckt zweimal eine Münze.",
        "coin-times": "Werfen Sie verdeckt {count}-mal eine Münze.",
        "die-once": "Würfeln Sie verdeckt einmal.",
        "die-twice": "Würfeln Sie verdeckt zweimal.",
        "die-times": "Würfeln Sie verdeckt {count}-mal.",
        "read-coins": "Kopf zählt 1, Zahl zählt 2.",
        "read-row": "Setzen Sie alles zu einer Zahl zusammen: nach {throws} ist das {number}.",
        "heads": "Kopf",
        "tails": "Zahl",
        "heads-heads": "Kopf, dann Kopf",
        "heads-tails": "Kopf, dann Zahl",
        "tails-heads": "Zahl, dann Kopf",
        "tails-tails": "Zahl, dann Zahl",
        "heads-any": "zuerst Kopf, gleich was danach kommt",
        "tails-any": "zuerst Zahl, gleich was danach kommt",
        "one-each": "einmal Kopf und einmal Zahl",
        "some-heads": "mindestens einmal Kopf",
        "some-tails": "mindestens einmal Zahl",
        "anything": "gleich was",
        "range": "{first} bis {last}",
        "or": "{first} oder {last}",
        "rule-forced": "{got}: „{response}“ eintragen.",
        "rule-truth": "{got}: Ihre wahre Antwort eintragen.",
        "rule-opposite": "{got}: das Gegenteil Ihrer wahren Antwort eintragen.",
        "rule-pair": (
            "„{got}“ und wahre Antwort „{answer}“, oder etwas anderes und wahre Antwort "
            "„{other}“: „{response}“ eintragen."
        ),
        "true-answer": "Wahre Antwort „{answer}“",
        "you-got": "Ergebnis",
        "enter": "Eintragen",
        "heading": "Mit eigener Münze und eigenem Würfel",
        "promise": (
            "Niemand erfährt Ihre wahre Antwort auf eine geschützte Frage, auch dieses Gerät "
            "nicht: Sie tragen nur ein, was Ihre Münze oder Ihr Würfel daraus macht."
        ),
        "need-coin": "Sie brauchen eine Münze.",
        "need-die": "Sie brauchen einen Würfel.",
        "need-both": "Sie brauchen eine Münze und einen Würfel.",
        "first": (
            "Zuerst werfen oder würfeln Sie, wo es kein Mensch und keine Kamera sieht. "
            "Behalten Sie das Ergebnis für sich, auch danach."
        ),
        "then": (
            "Dann tragen Sie ein, was die Anleitung sagt, auch wenn es nicht Ihre wahre Antwort "
            "ist. Das ist keine Lüge: Alle kennen die Wahrscheinlichkeiten, und die Ergebnisse "
            "werden damit berechnet."
        ),
        "once": "Tun Sie das einmal je Frage, und wiederholen Sie es nicht des Ergebnisses wegen.",
        "on-paper": "Diese Seite lässt sich auch drucken und auf Papier ausfüllen.",
        "protected": "Geschützt: Niemand erfährt Ihre wahre Antwort, auch dieses Gerät nicht.",
        "outcome": "Was Sie eintragen",
        "answer": "Ihre Antwort",
        "tells": "Was diese Angabe verraten kann",
        "only-if": "Nur wenn Sie auf Frage {number} mit „{answers}“ geantwortet haben.",
        "else-choose": "Sonst wählen Sie „{none}“.",
        "else-empty": "Sonst lassen Sie das Feld leer.",
        "none": "Trifft auf mich nicht zu",
        "choose": "Wählen …",
        "number": "Eine Zahl von {low} bis {high}.",
        "skip-empty": "Leer lassen, wenn Sie nichts angeben möchten.",
        "invitation": "Einladungscode",
        "invitation-help": "Der Teil Ihres Einladungslinks nach dem #.",
        "send": "Absenden",
        "only-this": (
            "Gesendet wird, was Sie eingetragen haben, mit einem zufälligen Schlüssel, und sonst "
            "nichts."
        ),
        "fingerprint": "Fingerabdruck dieser Umfrage",
        "languages": "Sprachen",
        "not-sent": "Noch nicht gespeichert. Bitte sehen Sie hier nach:",
        "question": "Frage {number}",
        "missing": "Hier ist nichts eingetragen.",
        "applies": "Nach Ihren früheren Antworten gilt diese Frage für Sie.",
        "applies-not": "Nach Ihren früheren Antworten gilt diese Frage nicht für Sie.",
        "together": "Wählen Sie „{none}“ überall hier oder nirgends.",
        "alone": "„{skip}“ geht nur allein.",
        "invitation-missing": "Der Einladungscode fehlt.",
        "stored": "Gespeichert",
        "only-stored": "Das wurde gespeichert, und sonst nichts:",
        "first-stays": (
            "Dieses Formular wurde schon einmal gesendet. Es bleibt bei dem, was zuerst kam, "
            "nämlich:"
        ),
        "entered": "Was es bedeutet",
        "done": "Sie können diese Seite schließen. Ihr Wurf bleibt Ihr Geheimnis.",
        "again": "Formular öffnen",
        "not-stored": "Nicht gespeichert",
        "not-offered": "Diese Umfrage hat kein Formular für eigene Münzen und Würfel.",
        "changed": (
            "Die Umfrage wurde geändert, seit dieses Formular geöffnet wurde. "
            "Bitte öffnen Sie es noch einmal."
        ),
        "unknown": "Das Formular wurde anders gesendet, als es gemacht ist.",
        "paused": "Die Umfrage ist unterbrochen. Bitte senden Sie das Formular später noch einmal.",
        "closed": "Die Umfrage ist beendet.",
        "not-yet": "Die Umfrage hat noch nicht begonnen.",
        "uninvited": "Die Umfrage verlangt eine Einladung, und dieser Code gehört nicht dazu.",
        "spent": "Diese Einladung wurde schon benutzt.",
        "unavailable": (
            "Es konnte nicht gespeichert werden. Bitte senden Sie das Formular noch einmal."
        ),
    },
    "fr": {
        "language": "Français",
        "coin-once": "Lancez une pièce une fois, à l’abri des regards.",
        "coin-twice": "Lancez une pièce deux fois, à l’abri des regards.",
        "coin-times": "Lancez une pièce {count} fois, à l’abri des regards.",
        "die-once": "Lancez un dé une fois, à l’abri des regards.",
        "die-twice": "Lancez un dé deux fois, à l’abri des regards.",
        "die-times": "Lancez un dé {count} fois, à l’abri des regards.",
        "read-coins": "Face compte pour 1, pile pour 2.",
        "read-row": "Mettez le tout à la suite en un seul nombre : après {throws}, c’est {number}.",
        "heads": "face",
        "tails": "pile",
        "heads-heads": "face, puis face",
        "heads-tails": "face, puis pile",
        "tails-heads": "pile, puis face",
        "tails-tails": "pile, puis pile",
        "heads-any": "face d’abord, quelle que soit la suite",
        "tails-any": "pile d’abord, quelle que soit la suite",
        "one-each": "une fois face et une fois pile",
        "some-heads": "face au moins une fois",
        "some-tails": "pile au moins une fois",
        "anything": "n’importe quoi",
        "range": "{first} à {last}",
        "or": "{first} ou {last}",
        "rule-forced": "{got} : indiquez « {response} ».",
        "rule-truth": "{got} : indiquez votre vraie réponse.",
        "rule-opposite": "{got} : indiquez le contraire de votre vraie réponse.",
        "rule-pair": (
            "« {got} » et vraie réponse « {answer} », ou tout autre résultat et vraie réponse "
            "« {other} » : indiquez « {response} »."
        ),
        "true-answer": "Vraie réponse « {answer} »",
        "you-got": "Résultat",
        "enter": "À indiquer",
        "heading": "Avec votre pièce et votre dé",
        "promise": (
            "Personne n’apprend votre vraie réponse à une question protégée, pas même cet "
            "appareil : vous n’indiquez que ce que votre pièce ou votre dé en fait."
        ),
        "need-coin": "Il vous faut une pièce.",
        "need-die": "Il vous faut un dé.",
        "need-both": "Il vous faut une pièce et un dé.",
        "first": (
            "Lancez d’abord la pièce ou le dé, là où personne ni aucune caméra ne voit le "
            "résultat. Gardez-le secret, par la suite aussi."
        ),
        "then": (
            "Indiquez ensuite ce que disent les instructions, même si ce n’est pas votre vraie "
            "réponse. Ce n’est pas un mensonge : chacun connaît les probabilités, et les "
            "résultats sont calculés avec elles."
        ),
        "once": (
            "Faites-le une fois par question, et ne recommencez pas parce que le résultat "
            "vous déplaît."
        ),
        "on-paper": "Cette page peut aussi être imprimée et remplie sur papier.",
        "protected": ("Protégée : personne, pas même cet appareil, n’apprend votre vraie réponse."),
        "outcome": "Ce que vous indiquez",
        "answer": "Votre réponse",
        "tells": "Ce que cette indication peut révéler",
        "only-if": "Seulement si vous avez répondu « {answers} » à la question {number}.",
        "else-choose": "Sinon, choisissez « {none} ».",
        "else-empty": "Sinon, laissez ce champ vide.",
        "none": "Ne me concerne pas",
        "choose": "Choisir…",
        "number": "Un nombre de {low} à {high}.",
        "skip-empty": "Laissez vide si vous préférez ne pas répondre.",
        "invitation": "Code d’invitation",
        "invitation-help": "La partie de votre lien d’invitation qui suit le #.",
        "send": "Envoyer",
        "only-this": "Ce que vous avez indiqué est envoyé avec une clé aléatoire, et rien d’autre.",
        "fingerprint": "Empreinte de cette enquête",
        "languages": "Langues",
        "not-sent": "Pas encore enregistré. Veuillez revoir ceci :",
        "question": "Question {number}",
        "missing": "Rien n’est indiqué ici.",
        "applies": "D’après vos réponses précédentes, cette question vous concerne.",
        "applies-not": "D’après vos réponses précédentes, cette question ne vous concerne pas.",
        "together": "Choisissez « {none} » partout ici ou nulle part.",
        "alone": "« {skip} » ne va avec aucun autre choix.",
        "invitation-missing": "Le code d’invitation manque.",
        "stored": "Enregistré",
        "only-stored": "Voici ce qui a été enregistré, et rien d’autre :",
        "first-stays": (
            "Ce formulaire avait déjà été envoyé. Le premier envoi est conservé, et le voici :"
        ),
        "entered": "Ce que cela dit",
        "done": "Vous pouvez fermer cette page. Votre lancer reste votre secret.",
        "again": "Ouvrir le formulaire",
        "not-stored": "Non enregistré",
        "not-offered": "Cette enquête n’a pas de formulaire pour ses propres pièces et dés.",
        "changed": ("L’enquête a changé depuis l’ouverture de ce formulaire. Veuillez le rouvrir."),
        "unknown": "Le formulaire n’a pas été envoyé tel qu’il est fait.",
        "paused": "L’enquête est suspendue. Veuillez renvoyer le formulaire plus tard.",
        "closed": "L’enquête est close.",
        "not-yet": "L’enquête n’est pas encore ouverte.",
        "uninvited": "L’enquête demande une invitation, et ce code n’en est pas une.",
        "spent": "Cette invitation a déjà servi.",
        "unavailable": "L’enregistrement a échoué. Veuillez renvoyer le formulaire.",
    },
    "es": {
        "language": "Español",
        "coin-once": "Lance una moneda una vez, sin que nadie la vea.",
        "coin-twice": "Lance una moneda dos veces, sin que nadie la vea.",
        "coin-times": "Lance una moneda {count} veces, sin que nadie la vea.",
        "die-once": "Tire un dado una vez, sin que nadie lo vea.",
        "die-twice": "Tire un dado dos veces, sin que nadie lo vea.",
        "die-times": "Tire un dado {count} veces, sin que nadie lo vea.",
        "read-coins": "Cara cuenta como 1 y cruz como 2.",
        "read-row": "Póngalo todo seguido como un solo número: después de {throws} es {number}.",
        "heads": "cara",
        "tails": "cruz",
        "heads-heads": "cara y después cara",
        "heads-tails": "cara y después cruz",
        "tails-heads": "cruz y después cara",
        "tails-tails": "cruz y después cruz",
        "heads-any": "primero cara, sea cual sea la segunda",
        "tails-any": "primero cruz, sea cual sea la segunda",
        "one-each": "una vez cara y una vez cruz",
        "some-heads": "cara al menos una vez",
        "some-tails": "cruz al menos una vez",
        "anything": "cualquier cosa",
        "range": "{first} a {last}",
        "or": "{first} o {last}",
        "rule-forced": "{got}: indique «{response}».",
        "rule-truth": "{got}: indique su respuesta verdadera.",
        "rule-opposite": "{got}: indique lo contrario de su respuesta verdadera.",
        "rule-pair": (
            "«{got}» y respuesta verdadera «{answer}», o cualquier otro resultado y respuesta "
            "verdadera «{other}»: indique «{response}»."
        ),
        "true-answer": "Respuesta verdadera «{answer}»",
        "you-got": "Resultado",
        "enter": "Indique",
        "heading": "Con su propia moneda y su propio dado",
        "promise": (
            "Nadie conoce su respuesta verdadera a una pregunta protegida, ni siquiera este "
            "dispositivo: usted indica solo lo que su moneda o su dado hace de ella."
        ),
        "need-coin": "Necesita una moneda.",
        "need-die": "Necesita un dado.",
        "need-both": "Necesita una moneda y un dado.",
        "first": (
            "Primero lance la moneda o tire el dado donde no lo vea ninguna persona ni ninguna "
            "cámara. Guarde el resultado en secreto, también después."
        ),
        "then": (
            "Después indique lo que dicen las instrucciones, aunque no sea su respuesta "
            "verdadera. No es mentir: todos conocen las probabilidades, y los resultados se "
            "calculan con ellas."
        ),
        "once": "Hágalo una vez por pregunta y no lo repita porque no le guste el resultado.",
        "on-paper": "Esta página también se puede imprimir y rellenar en papel.",
        "protected": (
            "Protegida: nadie, ni siquiera este dispositivo, conoce su respuesta verdadera."
        ),
        "outcome": "Lo que usted indica",
        "answer": "Su respuesta",
        "tells": "Lo que puede revelar este dato",
        "only-if": "Solo si respondió «{answers}» a la pregunta {number}.",
        "else-choose": "Si no, elija «{none}».",
        "else-empty": "Si no, déjelo vacío.",
        "none": "No se aplica a mí",
        "choose": "Elija…",
        "number": "Un número de {low} a {high}.",
        "skip-empty": "Déjelo vacío si prefiere no responder.",
        "invitation": "Código de invitación",
        "invitation-help": "La parte de su enlace de invitación que sigue a #.",
        "send": "Enviar",
        "only-this": "Se envía lo que usted ha indicado con una clave aleatoria, y nada más.",
        "fingerprint": "Huella de esta encuesta",
        "languages": "Idiomas",
        "not-sent": "Aún no se ha guardado. Revise esto, por favor:",
        "question": "Pregunta {number}",
        "missing": "Aquí no hay nada indicado.",
        "applies": "Según sus respuestas anteriores, esta pregunta es para usted.",
        "applies-not": "Según sus respuestas anteriores, esta pregunta no es para usted.",
        "together": "Elija «{none}» en todas estas o en ninguna.",
        "alone": "«{skip}» no va con ninguna otra opción.",
        "invitation-missing": "Falta el código de invitación.",
        "stored": "Guardado",
        "only-stored": "Esto es lo que se ha guardado, y nada más:",
        "first-stays": (
            "Este formulario ya se había enviado. Queda lo que se envió primero, y es esto:"
        ),
        "entered": "Lo que dice",
        "done": "Puede cerrar esta página. Su tirada sigue siendo su secreto.",
        "again": "Abrir el formulario",
        "not-stored": "No se ha guardado",
        "not-offered": "Esta encuesta no tiene formulario para monedas y dados propios.",
        "changed": (
            "La encuesta ha cambiado desde que se abrió este formulario. Vuelva a abrirlo, "
            "por favor."
        ),
        "unknown": "El formulario no se envió tal como está hecho.",
        "paused": "La encuesta está en pausa. Vuelva a enviar el formulario más tarde, por favor.",
        "closed": "La encuesta está cerrada.",
        "not-yet": "La encuesta aún no se ha abierto.",
        "uninvited": "La encuesta requiere una invitación, y este código no es ninguna de ellas.",
        "spent": "Esta invitación ya se ha usado.",
        "unavailable": "No se pudo guardar. Vuelva a enviar el formulario, por favor.",
    },
    "ar": {
        "language": "العربية",
        "coin-once": "ارمِ قطعة نقود مرة واحدة بعيدًا عن الأنظار.",
        "coin-twice": "ارمِ قطعة نقود مرتين بعيدًا عن الأنظار.",
        "coin-times": "ارمِ قطعة نقود {count} مرات بعيدًا عن الأنظار.",
        "die-once": "ارمِ حجر نرد مرة واحدة بعيدًا عن الأنظار.",
        "die-twice": "ارمِ حجر نرد مرتين بعيدًا عن الأنظار.",
        "die-times": "ارمِ حجر نرد {count} مرات بعيدًا عن الأنظار.",
        "read-coins": "الصورة تُحسب 1 والكتابة تُحسب 2.",
        "read-row": "رتّب ما ظهر من اليسار إلى اليمين في عدد واحد: بعد {throws} يكون {number}.",
        "heads": "صورة",
        "tails": "كتابة",
        "heads-heads": "صورة ثم صورة",
        "heads-tails": "صورة ثم كتابة",
        "tails-heads": "كتابة ثم صورة",
        "tails-tails": "كتابة ثم كتابة",
        "heads-any": "صورة أولًا، أيًّا كانت الرمية الثانية",
        "tails-any": "كتابة أولًا، أيًّا كانت الرمية الثانية",
        "one-each": "صورة مرة وكتابة مرة",
        "some-heads": "صورة مرة على الأقل",
        "some-tails": "كتابة مرة على الأقل",
        "anything": "أي نتيجة",
        "range": "من {first} إلى {last}",
        "or": "{first} أو {last}",
        "rule-forced": "{got}: أدخل «{response}».",
        "rule-truth": "{got}: أدخل إجابتك الحقيقية.",
        "rule-opposite": "{got}: أدخل عكس إجابتك الحقيقية.",
        "rule-pair": (
            "«{got}» والإجابة الحقيقية «{answer}»، أو أي نتيجة أخرى والإجابة الحقيقية «{other}»: "
            "أدخل «{response}»."
        ),
        "true-answer": "الإجابة الحقيقية «{answer}»",
        "you-got": "ما ظهر لك",
        "enter": "أدخل",
        "heading": "بقطعة نقودك ونردك",
        "promise": (
            "لا أحد يعرف إجابتك الحقيقية عن سؤال محمي، ولا حتى هذا الجهاز: "
            "فأنت لا تُدخل إلا ما تجعله قطعة نقودك أو نردك منها."
        ),
        "need-coin": "تحتاج إلى قطعة نقود.",
        "need-die": "تحتاج إلى حجر نرد.",
        "need-both": "تحتاج إلى قطعة نقود وحجر نرد.",
        "first": ("ارمِ أولًا حيث لا يرى ذلك شخص ولا كاميرا. احتفظ بما ظهر سرًّا، وفيما بعد أيضًا."),
        "then": (
            "ثم أدخل ما تقوله التعليمات، حتى إن لم تكن إجابتك الحقيقية. "
            "ليس هذا كذبًا: فالجميع يعرف الاحتمالات، والنتائج تُحسب بها."
        ),
        "once": "افعل ذلك مرة واحدة لكل سؤال، ولا تُعده بسبب ما ظهر لك.",
        "on-paper": "يمكن أيضًا طباعة هذه الصفحة وملؤها على الورق.",
        "protected": "محمي: لا أحد يعرف إجابتك الحقيقية، ولا حتى هذا الجهاز.",
        "outcome": "ما تُدخله",
        "answer": "إجابتك",
        "tells": "ما الذي قد تكشفه هذه الاستجابة",
        "only-if": "فقط إذا أجبت بـ«{answers}» عن السؤال {number}.",
        "else-choose": "وإلا فاختر «{none}».",
        "else-empty": "وإلا فاترك هذا فارغًا.",
        "none": "لا ينطبق عليّ",
        "choose": "اختر…",
        "number": "عدد من {low} إلى {high}.",
        "skip-empty": "اتركه فارغًا إن كنت تفضّل عدم الإجابة.",
        "invitation": "رمز الدعوة",
        "invitation-help": "الجزء الذي يلي # في رابط دعوتك.",
        "send": "إرسال",
        "only-this": "يُرسَل ما أدخلته مع مفتاح عشوائي، ولا شيء غير ذلك.",
        "fingerprint": "بصمة هذا الاستبيان",
        "languages": "اللغات",
        "not-sent": "لم يُحفظ بعد. يُرجى النظر في ما يلي:",
        "question": "السؤال {number}",
        "missing": "لم يُدخَل شيء هنا.",
        "applies": "بحسب إجاباتك السابقة، هذا السؤال موجّه إليك.",
        "applies-not": "بحسب إجاباتك السابقة، هذا السؤال غير موجّه إليك.",
        "together": "اختر «{none}» لها جميعًا أو لا تختره لأيٍّ منها.",
        "alone": "«{skip}» لا يُختار مع غيره.",
        "invitation-missing": "رمز الدعوة غير موجود.",
        "stored": "تم الحفظ",
        "only-stored": "هذا ما حُفظ ولا شيء غيره:",
        "first-stays": "أُرسل هذا النموذج من قبل. يبقى ما أُرسل أولًا، وهو:",
        "entered": "ما يقوله",
        "done": "يمكنك إغلاق هذه الصفحة. تبقى رميتك سرّك.",
        "again": "فتح النموذج",
        "not-stored": "لم يُحفظ",
        "not-offered": "ليس لهذا الاستبيان نموذج لمن يستعمل نقوده ونرده.",
        "changed": "تغيّر الاستبيان منذ فتح هذا النموذج. يُرجى فتحه من جديد.",
        "unknown": "لم يُرسَل النموذج كما وُضع.",
        "paused": "الاستبيان متوقف مؤقتًا. يُرجى إعادة إرسال النموذج لاحقًا.",
        "closed": "الاستبيان مغلق.",
        "not-yet": "لم يُفتح الاستبيان بعد.",
        "uninvited": "يتطلب الاستبيان دعوة، وهذا الرمز ليس من دعواته.",
        "spent": "استُعملت هذه الدعوة من قبل.",
        "unavailable": "تعذّر الحفظ. يُرجى إعادة إرسال النموذج.",
    },
}


def word(language: str, name: str, **values: object) -> str:
    """A word or sentence, its ``{places}`` filled; English where there is no other."""
    return WORDS.get(_base(language), WORDS["en"])[name].format(**values)


def language_name(language: str) -> str:
    """What speakers call a language, where it is one of these."""
    return WORDS.get(_base(language), {"language": language})["language"]


def direction(language: str) -> str:
    return "rtl" if _base(language) in RIGHT_TO_LEFT else "ltr"


def join(texts: Sequence[str], language: str) -> str:
    """A, B, C."""
    return words.word(_base(language), "comma").join(texts)


def either(texts: Sequence[str], language: str) -> str:
    """A, B or C."""
    if len(texts) == 1:
        return texts[0]
    return word(language, "or", first=join(texts[:-1], language), last=texts[-1])


def _base(language: str) -> str:
    """The language without its region."""
    return language.partition("-")[0]
