"""Rules by which variants of an ingredient are merged."""

from __future__ import annotations

__all__ = ["DROPPED_WORDS", "MERGING_RULES", "STANDARD_SPELLINGS"]


def make_word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that do not change what the thing is: preparation, quality, size, packing. The Kaggle data has cut-off endings.
DROPPED_WORDS = make_word_set("""
    active added aged all at baby baked base beaten bite blanched boiled boiling bone boned boneless bottled brewed bulb
    bunch can canned center chop chopped chunk chunky clear coarse coarsely cob cold cook cooked cooking country cracked
    crumble crumbled crush crushed cube cubed cut dark deveined dice diced drain drained dri dried dry ear extra fat
    filet fillet fine finely finest firm firmly flake flaked flat floret free freeze fresh freshly frond frozen full
    good granulated granule grate grated grating ground half hand hard head heart heavy heirloom homemade hot inch
    instant jumbo kernel knob kosher large leaf lean leav less light lightly link loose loosely low lower lowfat
    lowsodium lump marin marinated mashed medium melted mild mince minced mini morsel natural no non nonfat nonstick of
    on organic ounce oz packed pan part peeled petite piece pitted plain pod prepar prepared processed pulp pure purpose
    quality quarter quick quickcooking range raw real rectangular reduced refrigerated regular rib ribbon rins rinsed
    ripe ripened roast roasted roasting rolled room root rotisserie roughly round salted shaved shell shelled shred
    shredded shuck shucked side size skim skimmed skin skinless slice sliced slivered small sodium soft soften softened
    solid spear spicy split sprig squeezed stalk steamed stem stewed stewing stick stone store strip strong style
    sweetened table temperature tender thawed the thick thickly thin thinly thread tip toasted top torn trimmed
    unbleached uncook uncooked unflavored unsalted unsulfured unsweetened virgin warm wedge whole wild yellow
""")


# One of several spellings of a word; the plural has been taken off.
STANDARD_SPELLINGS = {
    variant: word
    for word, variants in {
        "artichoke": "artichok",
        "asafoetida": "asafetida hing asafoetido",
        "barbecue": "bbq barbeque",
        "bread": "loaf",
        "broth": "stock bouillon consomme",
        "cardamom": "cardamon",
        "cheese": "chees",
        "chickpea": "chana channa",
        "chili": "chile chilli chily chilie chillie chil",
        "eggplant": "aubergine brinjal",
        "fettuccine": "fettucine fettuccini",
        "fillet": "filet",
        "ginger": "gingerroot",
        "jalapeno": "jalape",
        "lentil": "dal dhal daal",
        "linguine": "linguini",
        "mayonnaise": "mayonaise mayonnais mayo",
        "mozzarella": "mozarella mozzarela",
        "parmesan": "parmagiano parmigiano parmigianoreggiano",
        "phyllo": "filo fillo",
        "pimento": "pimiento",
        "portobello": "portabello portabella",
        "sauce": "sauc",
        "sausage": "sausag",
        "shrimp": "prawn",
        "sichuan": "szechwan szechuan",
        "tomato": "tomatoe",
        "turmeric": "tumeric",
        "whiskey": "whisky",
        "yogurt": "yoghurt yogourt",
        "zest": "peel rind",
        "zucchini": "courgette",
    }.items()
    for variant in variants.split()
}


# A name and what else it is called, if it is. Words bound by _ are one thing: no part of them stands for it.
MERGING_RULES = """
    bay_leaf: bay
    black_pepper: ground pepper, pepper powder, peppercorn, black peppercorn
    white_pepper: white peppercorn
    sichuan_peppercorn: sichuan pepper, ground sichuan pepper
    cayenne_pepper: cayenne, ground red pepper, red pepper powder
    red_pepper_flake: crushed red pepper, crushed red pepper flake, pepper flake, chili flake, red chili flake, crushed
        chili, crushed red chili
    lemon_pepper: lemon pepper seasoning
    bell_pepper: sweet pepper, capsicum, red bell pepper, green bell pepper, yellow bell pepper, orange bell pepper, red
        pepper, green pepper, yellow pepper, orange pepper, sweet red pepper, red capsicum, sweet mini bell, pimento
    jalapeno: jalapeno chili, jalapeno pepper, jalapeno chili pepper
    serrano chili: serrano, serrano pepper, serrano chili pepper
    poblano chili: poblano, poblano pepper, poblano chili pepper
    habanero chili: habanero, habanero pepper, habanero chili pepper, scotch bonnet, scotch bonnet pepper, scotch bonnet
        chili
    ancho chili: ancho, ancho pepper, ancho chili pepper, ancho powder, ancho chili powder
    guajillo chili: guajillo, guajillo pepper, guajillo chili pepper
    thai chili: bird chili, bird eye chili, thai chili pepper, thai bird chili
    chipotle: chipotle chili, chipotle pepper, chipotle chili pepper, chipotle powder, chipotle chili powder, adobo
        sauce
    chili: chili pepper, hot pepper, hot chili pepper, cayenne chili
    chili_powder
    chili_oil: hot chili oil
    chili_sauce: garlic chili sauce, chili garlic sauce, chiligarlic sauce, hot chili sauce, chili paste, hot chili
        paste, chili garlic paste, chili bean paste, sambal, sambal ulek, sambal oelek, sriracha, sriracha sauce,
        sriracha chili sauce, sriracha hot sauce, sriracha hot chili sauce
    chili_bean
    hot_sauce: hot pepper sauce, pepper sauce, tabasco, tabasco sauce, tabasco pepper sauce, tabasco green pepper sauce,
        tabasco brand pepper sauce, franks redhot sauce, cholula hot sauce
    gochujang: gochujang base, korean chili paste, red pepper paste, korean red pepper paste, hot pepper paste
    gochugaru: korean chili flake, korean chili powder, korean red pepper flake
    garlic: garlic clove, clove garlic, garlic bulb, garlic paste, garlic puree
    garlic_powder: granulated garlic, powdered garlic, ground garlic
    garlic_salt
    onion: yellow onion, white onion, sweet onion, vidalia onion, spanish onion, brown onion, red onion, purple onion,
        maui onion
    green_onion: scallion, spring onion, scallion green, onion top, green onion top, salad onion, scallion white
    onion_powder: onion flake, dried minced onion, granulated onion, onion granule
    clove: whole clove, ground clove, clove powder
    ginger: fresh ginger, ginger root, ginger paste, ginger puree
    ground_ginger: ginger powder, dried ginger
    pickled_ginger: gari, sushi ginger
    candied_ginger: crystallized ginger, crystalized ginger, stem ginger
    ginger_garlic_paste: garlic ginger paste
    ginger_ale: ginger beer
    cilantro: fresh coriander, coriander leaf, chopped coriander, fresh coriander leaf, fresh cilantro, cilantro leaf
    coriander: ground coriander, coriander powder, coriander seed, coriander ground
    cumin: ground cumin, cumin powder, cumin ground
    cumin_seed: jeera, shahi jeera, black cumin seed
    turmeric: turmeric powder
    cinnamon: cinnamon stick, stick cinnamon, cinnamon powder, canela, cassia cinnamon, cinnamon bark
    cardamom: cardamom pod, cardamom seed, cardamom powder, green cardamom, green cardamom pod, brown cardamom, black
        cardamom, black cardamom pod
    fenugreek: fenugreek seed, fenugreek leaf, kasuri methi, methi, methi leaf, methi seed
    fennel_seed: fennel powder
    mustard_seed: black mustard seed, brown mustard seed, yellow mustard seed
    dry_mustard: mustard powder, ground mustard
    mustard_greens
    mustard_oil
    celery_root: celeriac
    celery_seed
    celery_salt
    five_spice: five spice powder, chinese five spice, chinese five spice powder
    star_anise
    curry_powder: curry
    curry_leaf
    curry_paste
    garam_masala
    amchur: amchur powder, mango powder
    asafoetida: asafoetida powder
    paprika: sweet paprika, hungarian paprika, hungarian sweet paprika, paprika powder, smoked paprika, smoked sweet
        paprika, pimenton
    saffron: saffron thread, saffron powder
    nutmeg: whole nutmeg
    allspice: allspice berry, whole allspice
    cajun_seasoning: creole seasoning, cajun spice, cajun spice mix, creole spice, essence seasoning
    taco_seasoning: taco seasoning mix, taco mix
    italian_seasoning: italian herb, italian style seasoning
    seasoned_salt: seasoning salt
    poultry_seasoning
    dill: dillweed, dill weed, dill tip
    dill_pickle
    dill_seed
    tamarind: tamarind paste, tamarind concentrate, tamarind juice, tamarind pulp
    lemongrass: lemon grass
    lemon_verbena
    lime_leaf: kaffir lime, kaffir lime leaf, makrut lime leaf, kaffir leaf
    banana_leaf
    grape_leaf: vine leaf
    lemon_extract
    preserved_lemon
    lemon: lemon juice, lemon zest
    lime: lime juice, lime zest, key lime, key lime juice
    orange: orange juice, orange zest
    orange_liqueur: grand marnier, triple sec, cointreau, orange flavored liqueur
    vanilla: vanilla extract, vanilla bean, vanilla essence, vanilla bean paste, vanilla powder
    almond_extract
    salt: sea salt, fleur de sel, himalayan salt, maldon salt, rock salt, celtic salt
    sugar: white sugar, caster sugar, superfine sugar, cane sugar, turbinado, turbinado sugar, golden caster sugar
    brown sugar: muscovado sugar, demerara sugar, golden brown sugar, dark muscovado sugar
    powdered_sugar: confectioner sugar, icing sugar
    palm_sugar: coconut sugar, jaggery
    corn_syrup
    maple_syrup: pancake syrup
    cocoa: cocoa powder, cacao powder, dutch processed cocoa powder, unsweetened cocoa
    chocolate: milk chocolate, chocolate chip, chocolate morsel, semisweet chocolate, bittersweet chocolate, semi sweet
        chocolate
    flour: all purpose flour, self rising flour, self raising flour, ap flour
    rice_flour: glutinous rice flour, sweet rice flour, mochiko
    chickpea_flour: gram flour, besan
    almond_flour: almond meal
    coconut_flour
    corn_starch: cornstarch, cornflour, corn flour
    potato_starch: potato flour
    tapioca: tapioca flour, tapioca starch, manioc flour, cassava flour
    cornmeal: corn meal, yellow cornmeal, white cornmeal, yellow corn meal, white corn meal
    masa_harina: masa, corn masa, masa dough
    semolina: semolina flour, rava, ravva
    baking_powder
    baking_soda: bicarbonate of soda, bicarbonate soda
    cream_of_tartar
    food_coloring: food colouring, color food
    yeast: active dry yeast, dry yeast, instant yeast, fast rising yeast, rapid rise yeast
    nutritional_yeast
    egg: egg yolk, yolk, egg white
    egg_noodle
    butter: sweet butter, butter oil, margarine, butter margarine blend, vegan butter, not butter, country crock spread
    peanut_butter
    almond_butter
    butter_bean
    ghee: clarified butter
    cream: heavy cream, whipping cream, heavy whipping cream, double cream, light cream, single cream, half half, half
        and half, and fat free half half
    whipped_cream: whipped topping, cream sweeten whip, frozen whipped topping, cool whip
    ice_cream
    sour_cream
    cream_cheese
    creme_fraiche
    cream_soup: cream of chicken soup, cream of mushroom soup, cream of celery soup
    irish_cream: irish cream liqueur
    coconut_milk: coconut cream, cream of coconut
    condensed_milk: sweetened condensed milk
    evaporated_milk: evaporated skim milk, evaporated low fat milk
    powdered_milk: dry milk, milk powder
    almond_milk
    soy_milk: soymilk
    yogurt: greek yogurt, greek style yogurt, greek style plain yogurt
    tofu: bean curd
    lemon_curd
    parmesan cheese: parmesan, parmesan reggiano, parmesan reggiano cheese, grana padano, reggiano
    pecorino cheese: pecorino, romano cheese, pecorino romano, pecorino romano cheese, romano
    mozzarella cheese: mozzarella, cheese mozzarella, bocconcini, cheese fresh mozzarella
    cheddar cheese: cheddar, sharp cheddar cheese, white cheddar cheese
    ricotta cheese: ricotta
    ricotta_salata cheese: ricotta salata
    monterey_jack cheese: monterey jack, jack cheese, jack, colby jack, colby jack cheese, cheddar jack cheese
    pepper_jack cheese: pepper jack
    feta cheese: feta
    gruyere cheese: gruyere
    swiss cheese: emmenthal, emmental cheese, emmentaler cheese
    fontina cheese: fontina
    provolone cheese: provolone
    blue_cheese: gorgonzola, gorgonzola cheese, stilton, stilton cheese, roquefort, roquefort cheese
    goat_cheese: chevre
    cottage_cheese
    asiago cheese: asiago
    manchego cheese: manchego
    brie cheese: brie
    mascarpone: mascarpone cheese
    queso_fresco: cheese fresco queso, cotija, cotija cheese, queso blanco, cheese cotija
    mexican cheese: mexican cheese blend, mexican blend cheese, mexican style cheese
    vegetable_oil: canola oil, cooking oil, corn oil, sunflower oil, safflower oil, grapeseed oil, salad oil, neutral
        oil, rapeseed oil, soybean oil, soya oil, light oil, canola
    olive_oil
    sesame_oil
    peanut_oil: groundnut oil
    coconut_oil
    cooking_spray: nonstick spray, non stick spray, oil spray, vegetable oil spray, olive oil spray, nonstick cooking
        spray, spray
    shortening: vegetable shortening, crisco
    lard: pork lard
    rice_vinegar: rice wine vinegar
    cider_vinegar: apple cider vinegar
    wine_vinegar: red wine vinegar, white wine vinegar, sherry vinegar, sherry wine vinegar, champagne vinegar
    white_vinegar: distilled vinegar, distilled white vinegar, white distilled vinegar
    rice_wine: shaoxing wine, shaoxing, chinese rice wine, chinese cooking wine, shao hsing wine
    white_wine: chardonnay, sauvignon blanc, riesling, pinot grigio
    red_wine: burgundy, cabernet sauvignon, chianti, merlot, pinot noir, zinfandel
    sherry: sherry wine, cooking sherry, cream sherry
    beer: lager, ale, stout, guinness, lager beer, stout beer
    brandy: cognac, armagnac, calvados
    whiskey: jack daniel, bourbon, bourbon whiskey, irish whiskey, scotch
    soda_water: club soda, carbonated water, sparkling water, mineral water, seltzer water, seltzer
    rose_water: rosewater
    orange_flower_water: orange blossom water
    coconut_water: coconut juice
    pasta_water
    water_chestnut
    ice: ice cube
    soy_sauce: tamari, tamari soy sauce, shoyu, soya sauce, sweet soy sauce
    fish_sauce: nam pla, patis, nuoc mam
    oyster_sauce
    hoisin_sauce: hoisin
    worcestershire_sauce: worcestershire
    black_bean_sauce: black bean paste, fermented black bean, salted black bean, black bean garlic sauce
    bean_paste: bean sauce, soybean paste, doenjang
    shrimp_paste
    dried_shrimp
    miso: miso paste
    nori: seaweed, nori seaweed, nori sheet
    konbu: kombu, kelp
    bonito: katsuobushi
    dashi: dashi powder, dashi broth
    tomato_paste: sun dried tomato paste
    tomato_sauce
    tomato_puree: passata
    tomato_juice
    tomato_soup
    sun_dried_tomato
    tomato: plum tomato, roma tomato, cherry tomato, grape tomato, italian tomato, san marzano tomato, pear tomato
    ketchup: tomato ketchup, catsup
    pasta_sauce: marinara sauce, marinara, spaghetti sauce, pizza sauce, tomato basil sauce
    enchilada_sauce: red enchilada sauce, green enchilada sauce
    barbecue_sauce
    salsa: picante sauce, pico de gallo, taco sauce, tomato salsa, salsa verde, tomatillo salsa
    dijon_mustard: dijon style mustard, grain dijon mustard, dijon
    mustard: english mustard, prepared mustard, grain mustard, whole grain mustard
    pesto: pesto sauce, basil pesto, basil pesto sauce
    chicken broth: chicken base, chicken broth cube, chicken broth granule, knorr chicken broth
    sweet_potato: yam
    potato: russet, yukon gold
    pea: green pea, garden pea, sweet pea, english pea
    snow_pea: sugar pea, sugar snap pea, snap pea
    black_eyed_pea
    split_pea
    chickpea: garbanzo bean, garbanzo, chick pea
    lentil: urad lentil, moong lentil, toor lentil, chickpea lentil, masoor lentil
    green_bean: string bean, haricot vert, french bean
    white_bean: cannellini bean, great northern bean, navy bean, white kidney bean, cannellini
    kidney_bean: red kidney bean, red bean, rajma
    black_bean
    refried_bean: refried black bean
    bean_sprout: beansprout, mung bean sprout, sprout
    brussels_sprout
    glass_noodle: bean thread, cellophane noodle, bean thread noodle, sweet potato noodle
    rice_noodle: rice stick, rice vermicelli, rice stick noodle, vermicelli, vermicelli noodle
    ramen: ramen noodle
    soba: soba noodle, buckwheat noodle
    udon: udon noodle
    rice_paper: rice paper wrapper
    rice_cake
    wonton_wrapper: won ton wrapper, dumpling wrapper, gyoza wrapper, spring roll wrapper, egg roll wrapper, lumpia
        wrapper, wonton skin, gyoza skin, lumpia skin
    arborio_rice: risotto rice, carnaroli rice, arborio, risotto
    basmati rice: basmati
    jasmine rice: jasmine
    rice: long grain rice, white rice, long grain white rice, grain rice, converted rice, medium grain rice
    pasta: spaghetti, penne, linguine, fettuccine, rigatoni, fusilli, rotini, farfalle, bow tie, bow tie pasta, ziti,
        macaroni, elbow macaroni, angel hair, capellini, spaghettini, lasagna noodle, lasagna, lasagne, orzo,
        orecchiette, tagliatelle, pappardelle, bucatini, ditalini, cavatappi, gemelli, manicotti, tortellini, ravioli,
        rotelle, cavatelli, penne rigate, pasta shell, shell pasta, pasta sheet
    spaghetti_squash
    bread_crumb: breadcrumb, dry bread crumb
    panko bread_crumb: panko, panko breadcrumb
    french_bread: baguette, french baguette, bread ciabatta, ciabatta, ciabatta bread, crusty bread, italian bread,
        sourdough, sourdough bread
    corn_tortilla
    flour_tortilla
    tortilla_chip: corn chip, corn tortilla chip, chip plain tortilla
    taco_shell: tostada, tostada shell, corn taco shell
    cornbread: corn bread, cornbread mix, corn mix muffin
    baby_corn
    corn_husk
    corn: yellow corn, white corn, sweet corn, cream style corn
    grits: corn grits
    pie_crust: piecrust, pie shell, pie dough, pastry shell
    puff_pastry: pastry puff sheet, puff pastry sheet
    pizza_dough: pizza crust
    graham_cracker: graham cracker crumb
    shiitake mushroom: shiitake, shiitake mushroom cap
    mushroom: cremini, button mushroom, mushroom cap, crimini
    porcini mushroom: porcini
    enoki mushroom: enokitake, enoki
    napa_cabbage: chinese cabbage, napa
    cabbage: green cabbage, white cabbage, slaw mix, coleslaw mix
    bok_choy: pak choi, baby bok choy
    collard_greens: collard
    salad_greens: mixed greens, salad leaf, mesclun
    arugula: rocket
    eggplant: japanese eggplant, chinese eggplant
    broccoli_rabe: rapini
    parsley: italian parsley
    chive: chinese chive, garlic chive
    avocado: hass avocado
    olive: kalamata, kalamata olive, black olive, green olive, ripe olive, nicoise olive, pimento stuffed olive, pimento
        stuffed green olive
    pine_nut: pinenut, pinon
    cashew: cashew nut
    pistachio: pistachio nut
    peanut: groundnut
    raisin: golden raisin, sultana
    currant: dried currant
    pomegranate: pomegranate seed
    pumpkin_seed: pepita, green pumpkin seed
    sesame_seed: white sesame seed, black sesame seed, sesame
    chicken: chicken breast, chicken thigh, chicken leg, chicken wing, chicken drumstick, chicken cutlet, cornish hen,
        cornish game hen, broiler fryer chicken
    ground_chicken: ground chicken breast
    ground_beef: minced beef, ground chuck, ground round, ground sirloin, hamburger, lean ground beef, beef mince,
        ground meat
    ground_pork: minced pork
    lamb: ground lamb, minced lamb, leg of lamb, lamb shoulder, lamb shank, lamb chop, lamb loin chop, lamb rib chop,
        rack of lamb, lamb meat, lamb stew meat, lamb leg, lamb loin, mutton
    ground_turkey: ground turkey breast
    beef: steak, chuck, chuck roast, brisket, sirloin, oxtail, short rib, beef rib short, flank steak, skirt steak, rump
        roast, veal
    fish: white fish, whitefish, cod, tilapia, halibut, snapper, red snapper, sea bass, striped bass, haddock, flounder,
        sole, grouper, mahi mahi, monkfish, catfish, fish steak, halibut steak, swordfish, swordfish steak, trout,
        codfish
    salmon: salmon steak
    tuna: tuna steak
    pork: spare rib, sparerib, pork rib, baby back rib
    ham: ham steak, ham hock, smoked ham hock
    bacon: bacon dripping, bacon fat, bacon grease, pancetta, guanciale
    prosciutto: serrano ham, parma ham
    chorizo: chorizo sausage, spanish chorizo, mexican chorizo
    andouille: andouille sausage
    italian_sausage: italian turkey sausage, bulk italian sausage
    sausage: smoked sausage, kielbasa, sausage casing, pork sausage, breakfast sausage
    crab: crabmeat, crab meat
    clam_juice
    squid: calamari
    crawfish: crayfish, crawfish tail
    scallop: sea scallop, bay scallop
    herb: mixed herb, dried mixed herb
    hot_dog
"""
