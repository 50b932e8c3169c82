"""Health and the other categories that need more than a reason to be kept (GDPR, articles 9 and 10).

Words in English and German, without accents. A word is no statement: whoever decides looks at the sentence.
"""

from collections.abc import Iterator
from typing import Final

from service.detection.lexicon import Lexicon, words_of
from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_HEALTH: Final = (
    "diabet*,asthma*,cancer*,tumor*,tumour*,leukemi*,leukaemi*,lymphom*,melanom*,carcinom*,oncolog*",
    "chemotherap*",
    "radiotherap*,epilep*,seizures,migraine*,migrane*,dementia,demenz*,alzheimer*,parkinson*,stroke patient",
    "depressed,depressive,depression,depressionen,antidepress*,bipolar*,schizo*,psychos*,psychot*,psychiatr*",
    "psychotherap*,anxiety,ptsd,adhd,adhs,autis*,asperger*,anorexi*,bulimi*,suicid*,suizid*,insomnia,burnout",
    "hiv,aids,hepatit*,tubercul*,tuberkul*,covid*,syphilis,gonorrh*,chlamydia*,herpes,lupus,fibromyalg*",
    "crohn*",
    "celiac,coeliac,zoliakie,colitis,eczema,neurodermit*,psoriasis,arthrit*,arthros*,rheuma*,osteopor*",
    "scleros*",
    "hypertension,bluthochdruck*,hypotension,arrhythm*,angina,herzinfarkt*,schlaganfall*,thrombos*,pacemaker",
    "anemia,anaemia,anamie,hemophil*,haemophil*,thyroid*,schilddrus*,insulin*,dialysis,dialyse*,transplant*",
    "pregnan*,schwanger*,miscarriage*,fehlgeburt*,abortion*,abtreibung*,infertil*,ivf,menopaus*,endometrios*",
    "wheelchair*,rollstuhl*,disability,disabilities,behindert*,behinderung*,schwerbehindert*,amputat*,deaf",
    "gehorlos*,dyslexi*,legasthen*,prosthe*,allerg*,anaphyla*,epipen,lactose,laktose*,hospitali*",
    "krankenhaus*",
    "krankgeschrieben,krankschreibung*,krankheit*,krankmeldung*,erkrankt,arbeitsunfahig*,chronisch krank",
    "patientenakte*,surger*,biopsy,chemo,rehab,methadon*,alcoholi*,alkoholi*,drogensucht*,opioid*,overdos*",
    "ibuprofen,paracetamol,prozac,sertralin*,lithium,ritalin,metformin,statins,warfarin,morphin*,xanax",
    "valium",
    "*krebs,*erkrankung,*erkrankungen,*phobie,*therapeut,*therapeutin,*allergie,*allergien",
    "heart attack*,heart disease,heart condition,heart failure,blood pressure,blood sugar,blood test*",
    "blood type",
    "mental health,mental illness,mentally ill,panic attack*,eating disorder,personality disorder",
    "chronic pain",
    "chronic illness*,chronic fatigue,chronic disease,chronic condition,diagnosed with,was diagnosed",
    "sick leave",
    "medical condition*,medical history,medical record*,medical leave,health condition*,health issue*",
    "health problem*,takes medication*,taking medication*,on medication,prescribed medication,hearing aid*",
    "hard of,visually impaired,multiple sclerosis,cystic fibrosis,down syndrome,sickle cell,kidney disease",
    "kidney failure,liver disease,leidet an,leidet unter,suffers from,suffering from,unheilbar krank",
    "ist krank",
    "nimmt medikament*,terminally ill,seriously ill,physically disabled,learning disabilit*,speech therap*",
)
_RELIGION: Final = (
    "muslim*,moslem*,islam*,christian,christians,christianity,christlich*,catholic*,kathol*,protestant*",
    "lutheran*",
    "evangelisch*,orthodox jew*,jew,jews,jewish,judaism,judisch*,jude,juden,hindu*,buddhis*,sikh*,mormon*",
    "jehovah*",
    "zeugen jehovas,baptist*,methodist*,atheis*,agnostic*,scientolog*,baha'i,quaker*,pentecostal*",
    "presbyterian*",
    "anglican*,mosque,moschee*,synagog*,ramadan,hajj,halal,kosher,koscher*,konfession*,kirchensteuer*",
    "religious belief*,religious faith,goes to church,attends church,attends mass,prays,converted to,getauft",
    "konfessionslos*,glaubig*,religionszugehorig*",
)
_POLITICS: Final = (
    "democrat,democrats,republican,republicans,communis*,kommunis*,socialis*,sozialist*,fascis*,faschist*",
    "marxis*",
    "anarchis*,leftist*,libertarian*,tory,tories,cdu,csu,spd,afd,parteimitglied*",
    "linksradikal*,rechtsradikal*,rechtsextrem*,linksextrem*,parteibuch*,labour party,green party",
    "conservative party",
    "liberal democrat*,political opinion*,political view*,political belief*,political affiliation*",
    "political party",
    "politically active,politische meinung*,politische einstellung*,politische uberzeugung*,votes for",
    "voted for",
    "vote for,voted against,wahlt die,member of parliament,communist party,party member*,supports trump",
    "supports biden",
    "far right,far left,left wing,right wing",
)
_UNION: Final = (
    "unionized,unionised,unionist*,gewerkschaft*,betriebsrat*,afl cio,verdi mitglied*,ig metall",
    "trade union*,labor union*,labour union*,union member*,union rep*,union dues,works council*",
    "shop steward*",
    "joined the union,union organi*",
)
_SEX_LIFE: Final = (
    "gay,lesbian*,lesbisch*,bisexual*,bisexuell*,homosexual*,homosexuell*,heterosexual*,heterosexuell*",
    "schwul*",
    "transgender*,transsexual*,transsexuell*,nonbinary,queer*,pansexual*,asexual*,lgbt*,polyamor*,intersex*",
    "sexual orientation,sexual preference*,sexuelle orientierung,sex life,sexualleben,gender identity",
    "came out as",
    "non binary,trans woman,trans man,trans frau,trans mann,same sex partner,same sex couple",
)
_ETHNICITY: Final = (
    "ethnic origin,ethnic background,ethnicity,racial origin,ethnische herkunft,ethnizitat,caucasian*",
    "african american*",
    "afroamerikan*,hispanic*,latino,latina,latinx,romani,sinti,aboriginal*,native american*",
    "indigenous person",
    "of african descent,of asian descent,of jewish descent,of turkish descent,mixed race,is black,is asian",
    "migrationshintergrund*,skin colo*,hautfarbe*",
)
_BIOMETRIC: Final = (
    "fingerprint scan*,fingerprint data,fingerprint template*,fingerabdruck*,iris scan*,irisscan*",
    "retina scan*",
    "retinal scan*,face id,faceprint*,voiceprint*,stimmabdruck*,face template*,facial recognition",
    "facial geometry",
    "biometric*,biometrisch*,dna test*,dna profile*,dna sample*,dna profil*,genetic test*,genetic data",
    "genetic marker*",
    "genome sequence*,brca1,brca2,gentest*,genetische daten,hand geometry,gesichtserkennung*,palm print*",
)
_CRIMINAL: Final = (
    "convicted,conviction for,criminal record*,criminal conviction*,criminal charge*,criminal offen*,felon",
    "felony",
    "felonies,misdemeanor*,imprisoned,incarcerated,ex convict*,parolee*,on parole,on probation,in prison",
    "prison sentence",
    "served time,was arrested,been arrested,arrested for,indicted,pleaded guilty,pled guilty,sex offender*",
    "vorbestraft*",
    "vorstraf*,strafregister*,fuhrungszeugnis*,haftstrafe*,verurteilt*,inhaftiert*,bewahrungsstrafe*",
    "straftat*,dui",
    "drunk driving,jail sentence,jail time,went to jail,in jail,ermittlungsverfahren*,strafverfahren*",
)
_LEXICON: Final = Lexicon(
    {
        Kind.HEALTH: _HEALTH,
        Kind.RELIGION: _RELIGION,
        Kind.POLITICS: _POLITICS,
        Kind.UNION: _UNION,
        Kind.SEX_LIFE: _SEX_LIFE,
        Kind.ETHNICITY: _ETHNICITY,
        Kind.BIOMETRIC: _BIOMETRIC,
        Kind.CRIMINAL: _CRIMINAL,
    }
)


def find_categories(reading: Reading) -> Iterator[Hit]:
    """Yield every word or phrase that speaks of one of the categories."""
    return _LEXICON.find(words_of(reading.folded))
